/* SPDX-License-Identifier: Apache-2.0
 *
 * template_limits.h - what a build may use: a cgroup that all its steps run in.
 */
#ifndef INIS_CLI_TEMPLATE_LIMITS_H
#define INIS_CLI_TEMPLATE_LIMITS_H

#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"
#include "os/cgroup.h"

/* 0 each: no limit. */
struct template_limits {
	uint32_t mem_mb; /* of all processes of a step together */
	uint32_t processes; /* at a time */
	inis_ms time_ms; /* of the whole build */
};

struct template_group {
	struct template_limits limits;
	struct inis_cgroup_root root;
	char name[40];
	int v2; /* -1: nothing is limited, and there is no cgroup */
};

/*
 * Removes what a build of these templates that was killed has left of it; under their lock. Nothing happens where there
 * are no cgroups.
 */
void template_group_sweep(int templates);

/*
 * Makes the cgroup; no other build of the same templates may be going on. What a build that was killed has left of it
 * goes first. On failure there is nothing to close.
 */
int template_group_open(struct template_group *g, int templates, const struct template_limits *limits,
			struct inis_error *err);
/* Ends all that still runs in it. */
void template_group_close(struct template_group *g);

/* For a process that was cloned into the v2 group: into those of v1 too. */
int template_group_join(const struct template_group *g, pid_t pid, struct inis_error *err);
void template_group_kill(const struct template_group *g);

/* Whether a limit has been met, so that a step failed; err says which. */
bool template_group_blames(const struct template_group *g, struct inis_error *err);

/* Says that a build has taken too long; -1. */
int template_late(const struct template_group *g, struct inis_error *err);

#endif
