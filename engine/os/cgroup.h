/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup.h - cgroups of a unit on both kinds of host.
 *
 * DOC: How it works
 *
 * The v2 tree holds a unit's processes, freezes and kills them, everywhere. Limits come from v2 controllers where
 * the v2 root has them, else (hybrid hosts) from the v1 hierarchies of cpu, memory and pids, in which the unit has
 * a group of the same name. Groups are below a subtree of ours, "inis/<instance>/<unit>".
 */
#ifndef INIS_OS_CGROUP_H
#define INIS_OS_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum inis_cgroup_v1 {
	INIS_V1_CPU,
	INIS_V1_MEMORY,
	INIS_V1_PIDS,
	INIS_V1_COUNT,
};

/* Where the hierarchies are mounted; pure result of reading mountinfo. */
struct inis_cgroup_layout {
	char v2[PATH_MAX]; /* "" when there is none */
	char v1[INIS_V1_COUNT][PATH_MAX]; /* "" when v2 has the controller, or nobody */
};

/* Reads the text of /proc/self/mountinfo. */
void inis_cgroup_layout_parse(const char *mountinfo, struct inis_cgroup_layout *out);

/* Our subtree, opened. */
struct inis_cgroup_root {
	int v2;
	int v1[INIS_V1_COUNT]; /* -1 each when v2 limits */
	bool limits_v2;
	bool swap_v1; /* v1 accounts swap */
};

/*
 * Makes and opens our subtree; `instance` is a name of [a-z0-9]. Fails naming what the machine lacks.
 */
int inis_cgroup_root_open(struct inis_cgroup_root *root, const char *instance, struct inis_error *err);
/* Removes the subtree when it is empty; closes. */
void inis_cgroup_root_close(struct inis_cgroup_root *root);

struct inis_cgroup_limits {
	uint32_t vcpus; /* 0: no limit */
	uint32_t mem_mb; /* memory and swap together */
	uint32_t pids_max;
};

struct inis_cgroup_usage {
	uint64_t mem_bytes;
	uint64_t mem_peak_bytes;
	uint64_t cpu_us;
	uint64_t oom_kills;
	uint64_t pids;
};

/* A unit's groups: v2 open, v1 by name below the root. */
int inis_cgroup_make(const struct inis_cgroup_root *root, const char *unit, struct inis_error *err);
/* The unit's v2 directory, or -1. */
int inis_cgroup_open(const struct inis_cgroup_root *root, const char *unit, struct inis_error *err);
/* Hands the v2 group's membership files to uid, so that the unit's root may make leaves below it. */
int inis_cgroup_delegate(int v2, uid_t uid, struct inis_error *err);
/* Puts a process into the unit's v1 groups (nothing to do where v2 limits). */
int inis_cgroup_attach_v1(const struct inis_cgroup_root *root, const char *unit, pid_t pid, struct inis_error *err);
int inis_cgroup_limit(const struct inis_cgroup_root *root, const char *unit, const struct inis_cgroup_limits *limits,
		      struct inis_error *err);
/* A read-only descriptor of the file with the line "oom_kill N". */
int inis_cgroup_oom_counter(const struct inis_cgroup_root *root, const char *unit, struct inis_error *err);
int inis_cgroup_usage(const struct inis_cgroup_root *root, const char *unit, struct inis_cgroup_usage *out,
		      struct inis_error *err);

/* How often a new process was refused for want of room below pids_max. */
uint64_t inis_cgroup_forks_refused(const struct inis_cgroup_root *root, const char *unit);

/* Begins to freeze or thaw; done when inis_cgroup_frozen() says so. */
int inis_cgroup_set_frozen(int v2, bool frozen, struct inis_error *err);
/* Descriptor of cgroup.events, readable by EPOLLPRI after a change. */
int inis_cgroup_events(int v2, struct inis_error *err);
/* "populated" and "frozen" of it; -1 when the group is gone. */
int inis_cgroup_events_read(int events, bool *populated, bool *frozen);

/* SIGKILL to all members and those of groups below, frozen ones too. */
int inis_cgroup_kill(int v2, struct inis_error *err);
/* Removes all groups of the unit and what is below. True when nothing is left. */
bool inis_cgroup_remove(const struct inis_cgroup_root *root, const char *unit);
/* Whether any group of the unit exists. */
bool inis_cgroup_exists(const struct inis_cgroup_root *root, const char *unit);

/* Calls fn for each unit that has a group in any hierarchy (a unit may come more than once). */
void inis_cgroup_each(const struct inis_cgroup_root *root, void (*fn)(void *ctx, const char *unit), void *ctx);

/* The number after `key ` at the start of a line of text; false when there is none. */
bool inis_cgroup_field(const char *text, const char *key, uint64_t *value);

#endif
