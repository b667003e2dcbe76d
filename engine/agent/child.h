/* SPDX-License-Identifier: Apache-2.0
 *
 * child.h - what a new process does before it becomes the guest's program.
 */
#ifndef INIS_AGENT_CHILD_H
#define INIS_AGENT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

enum child_step { CHILD_SETUP = 1, CHILD_CWD, CHILD_EXEC };

struct child {
	char *const *argv;
	char *const *env;
	char *const *paths;
	const char *cwd;
	int stdio[3];
	bool terminal; /* stdio[0] becomes the controlling terminal */
	uid_t uid;
	gid_t gid;
	unsigned n_groups;
	const gid_t *groups;
	/* set by the child, which shares the memory, when it does not become the program */
	volatile int step; /* enum child_step */
	volatile int error;
};

/*
 * Runs child_run in a new process of the cgroup; returns when that has become the program or ended. A negative errno
 * on failure.
 */
pid_t child_clone(struct child *c, int cgroup);

#endif
