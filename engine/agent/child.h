/* SPDX-License-Identifier: Apache-2.0
 *
 * child.h - what a new process does before it becomes the guest's program.
 *
 * These run in the new process, on a small stack, in the agent's memory.
 */
#ifndef INIS_AGENT_CHILD_H
#define INIS_AGENT_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Instrumentation would take the small stack for a broken one. */
#define ON_CHILD_STACK __attribute__((no_sanitize("address")))

enum child_step { CHILD_SETUP = 1, CHILD_CWD, CHILD_EXEC };

struct child {
	/* for child_prepare() */
	int stdio[3];
	bool terminal; /* stdio[0] becomes the controlling terminal */
	bool unfiltered; /* the agent is not under the base filter yet */
	/* for child_become() */
	bool no_stdin; /* /dev/null in place of stdio[0] */
	bool no_new_privs;
	char *const *argv;
	char *const *env;
	char *const *paths;
	const char *cwd;
	uid_t uid;
	gid_t gid;
	unsigned n_groups;
	const gid_t *groups;
	volatile bool begun; /* set by child_become() */
	/* set by the child when it does not become the program */
	volatile int step; /* enum child_step */
	volatile int error;
};

/* All that does not depend on the command. */
void child_prepare(struct child *c);
_Noreturn void child_become(struct child *c);

/* Sleeps until the word, a futex, is not 0. */
void child_await(const uint32_t *word);

#endif
