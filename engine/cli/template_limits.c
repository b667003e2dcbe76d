/* SPDX-License-Identifier: Apache-2.0
 *
 * template_limits.c - the cgroup of a build.
 *
 * It is named after the directory of the templates, in which one build goes on at a time: so a build finds what one
 * before it has left, and no two share one.
 */
#include "cli/template_limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/verb.h"

#define INSTANCE    "templates"
#define GONE_ROUNDS 500 /* of 10 ms: who was killed is gone soon */

/* True when nothing is left. */
static bool clear(struct template_group *g)
{
	for (int i = 0; i < GONE_ROUNDS; i++) {
		if (inis_cgroup_remove(&g->root, g->name))
			return true;
		usleep(10000);
	}
	return false;
}

/* What a build that was killed has left. */
static bool sweep(struct template_group *g)
{
	cleanup_close int v2 = inis_cgroup_open(&g->root, g->name, NULL);

	if (v2 >= 0)
		inis_cgroup_kill(v2, NULL);
	return clear(g);
}

static int make(struct template_group *g, struct inis_error *err)
{
	const struct inis_cgroup_limits limits = {.mem_mb = g->limits.mem_mb, .pids_max = g->limits.processes};

	if (!sweep(g))
		return inis_fail(err, INIS_CONFLICT, "cgroup %s of a build that was killed is in use", g->name);
	if (inis_cgroup_make(&g->root, g->name, err) < 0 || inis_cgroup_limit(&g->root, g->name, &limits, err) < 0)
		return -1;
	g->v2 = inis_cgroup_open(&g->root, g->name, err);
	return g->v2 < 0 ? -1 : 0;
}

static int open_root(struct template_group *g, int templates, struct inis_error *err)
{
	struct stat st;

	if (fstat(templates, &st) < 0)
		return inis_fail_errno(err, "look at the templates");
	snprintf(g->name, sizeof(g->name), "%" PRIx64 "-%" PRIx64, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
	if (inis_cgroup_root_open(&g->root, INSTANCE, err) == 0)
		return 0;
	inis_cgroup_root_close(&g->root);
	return -1;
}

void template_group_sweep(int templates)
{
	struct template_group g;

	if (open_root(&g, templates, NULL) < 0)
		return;
	sweep(&g);
	inis_cgroup_root_close(&g.root);
}

int template_group_open(struct template_group *g, int templates, const struct template_limits *limits,
			struct inis_error *err)
{
	*g = (struct template_group){.limits = *limits, .v2 = -1};
	if (limits->mem_mb == 0 && limits->processes == 0)
		return 0;
	if (open_root(g, templates, err) < 0)
		return -1;
	if (make(g, err) == 0)
		return 0;
	inis_cgroup_remove(&g->root, g->name);
	inis_cgroup_root_close(&g->root);
	return -1;
}

void template_group_close(struct template_group *g)
{
	if (g->v2 < 0)
		return;
	template_group_kill(g);
	clear(g);
	close_fd(&g->v2);
	inis_cgroup_root_close(&g->root);
}

int template_group_join(const struct template_group *g, pid_t pid, struct inis_error *err)
{
	return g->v2 < 0 ? 0 : inis_cgroup_attach_v1(&g->root, g->name, pid, err);
}

void template_group_kill(const struct template_group *g)
{
	if (g->v2 >= 0)
		inis_cgroup_kill(g->v2, NULL);
}

bool template_group_blames(const struct template_group *g, struct inis_error *err)
{
	struct inis_cgroup_usage usage;

	if (g->v2 < 0 || inis_cgroup_usage(&g->root, g->name, &usage, NULL) < 0)
		return false;
	if (usage.oom_kills > 0)
		inis_fail(err, INIS_INTERNAL, "it needs more memory than %u MB (--memory)", g->limits.mem_mb);
	else if (inis_cgroup_forks_refused(&g->root, g->name) > 0)
		inis_fail(err, INIS_INTERNAL, "it needs more than %u processes (--processes)", g->limits.processes);
	else
		return false;
	return true;
}

int template_late(const struct template_group *g, struct inis_error *err)
{
	return cli_fail_late(err, "a build may take %" PRId64 " s (--timeout)", g->limits.time_ms / 1000);
}
