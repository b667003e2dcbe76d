/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup.h - one leaf cgroup for each command, so that all of it can be found and killed.
 *
 * The cgroup v2 file system is mounted detached: no path of the guest leads to it. Its root is the unit's own
 * cgroup, by the cgroup namespace.
 */
#ifndef INIS_AGENT_CGROUP_H
#define INIS_AGENT_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct leaf {
	uint64_t number; /* its name; 0: none */
	int fd; /* its directory */
	int cpu; /* its cpu.stat; -1: not to be had */
};

#define LEAF_INIT                   \
	{                           \
		.fd = -1, .cpu = -1 \
	}

/* Mounts, and proves that a leaf can be made. */
int cgroup_open(struct inis_error *err);

/* Takes the counter of out-of-memory kills of the whole unit; -1: there is none. */
void cgroup_set_oom_counter(int fd);
uint64_t cgroup_oom_kills(void);

int leaf_make(struct leaf *leaf, struct inis_error *err);
/* Whether a process lives in it. */
bool leaf_populated(const struct leaf *leaf);
/* A signal to everything in it. */
void leaf_signal(const struct leaf *leaf, int signal);
void leaf_kill(const struct leaf *leaf);
/* User and system time of all that ever ran in it; 0 when unknown. */
uint64_t leaf_cpu_us(const struct leaf *leaf);

/*
 * The owner is done with it. cgroup_sweep() removes those in which nothing lives any more: call it when there is time,
 * and when processes were reaped.
 */
void leaf_release(struct leaf *leaf);
void cgroup_sweep(void);

#endif
