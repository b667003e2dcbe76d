/* SPDX-License-Identifier: Apache-2.0
 *
 * unit.h - a unit made in the simplest way that shows the agent what it would see for real: all namespaces, mapped
 * ids, a read-only /usr of this machine, a memory limit.
 */
#ifndef TEST_AGENT_UNIT_H
#define TEST_AGENT_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define UNIT_UID_BASE 700000
#define UNIT_MEM_MB   96

struct unit {
	pid_t pid;
	int pidfd;
	int sock; /* the broker's end */
	char dir[64]; /* root/, dev/ */
	char cgroup[96]; /* v2 */
	char memory[96]; /* v1, "" where there is none */
};

/* Whether this machine lets us: root. */
bool unit_possible(void);

/* Started and READY. */
void unit_make(struct unit *u);
/* Activated; flags are INIS_UNIT_*. */
void unit_activate(struct unit *u, uint32_t flags);
/* A connection to the agent, made from outside. */
int unit_connect(const struct unit *u);
/* Kills it and removes everything; fails the test when something is left. */
void unit_destroy(struct unit *u);
/* Processes in the unit that are the guest's: not the agent, not the one that waits for the next command. */
unsigned unit_guests(const struct unit *u);
/* Leaf cgroups that are there. */
unsigned unit_leaves(const struct unit *u);

#endif
