/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroups.c - a cgroup of a session: limits, a member, freezing and killing.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "doctor/doctor.h"
#include "os/cgroup.h"
#include "os/proc.h"

#define GROUP     "probe"
#define FREEZE_MS 10000
#define REMOVE_MS 10000

struct group {
	struct inis_cgroup_root root;
	int v2;
	int pidfd;
	pid_t member;
};

static int start_member(struct group *g, struct inis_error *err)
{
	g->member = inis_clone3(0, g->v2, &g->pidfd, err);
	if (g->member == 0) {
		while (true)
			pause();
	}
	return g->member < 0 ? -1 : inis_cgroup_attach_v1(&g->root, GROUP, g->member, err);
}

static int set_frozen(const struct group *g, bool to, struct inis_error *err)
{
	cleanup_close int events = inis_cgroup_events(g->v2, err);
	inis_ms deadline = inis_deadline_in(FREEZE_MS);
	bool populated = false;
	bool frozen = !to;

	if (events < 0 || inis_cgroup_set_frozen(g->v2, to, err) < 0)
		return -1;
	while (inis_cgroup_events_read(events, &populated, &frozen) == 0 && frozen != to) {
		if (inis_now_ms() >= deadline)
			return inis_fail(err, INIS_UNAVAILABLE, "a cgroup could not be %s", to ? "frozen" : "thawed");
		usleep(1000);
	}
	return 0;
}

static int kill_member(struct group *g, struct inis_error *err)
{
	struct pollfd ended = {.fd = g->pidfd, .events = POLLIN};

	if (inis_cgroup_kill(g->v2, err) < 0)
		return -1;
	if (poll(&ended, 1, FREEZE_MS) != 1)
		return inis_fail(err, INIS_UNAVAILABLE, "cgroup.kill did not end a process");
	return 0;
}

static int use(struct group *g, struct inis_error *err)
{
	const struct inis_cgroup_limits limits = {.vcpus = 1, .mem_mb = 64, .pids_max = 16};

	if (inis_cgroup_make(&g->root, GROUP, err) < 0 || (g->v2 = inis_cgroup_open(&g->root, GROUP, err)) < 0)
		return -1;
	if (inis_cgroup_limit(&g->root, GROUP, &limits, err) < 0 || start_member(g, err) < 0)
		return -1;
	return set_frozen(g, true, err) < 0 || set_frozen(g, false, err) < 0 ? -1 : kill_member(g, err);
}

static void clean_up(struct group *g)
{
	inis_ms deadline = inis_deadline_in(REMOVE_MS);

	if (g->member > 0) {
		kill(g->member, SIGKILL);
		waitpid(g->member, NULL, 0);
	}
	while (g->v2 >= 0 && !inis_cgroup_remove(&g->root, GROUP) && inis_now_ms() < deadline)
		usleep(1000);
	close_fd(&g->pidfd);
	close_fd(&g->v2);
	if (g->root.v2 >= 0)
		inis_cgroup_root_close(&g->root);
}

static int try_group(void *ctx, struct inis_error *err)
{
	struct group g = {.v2 = -1, .pidfd = -1, .member = -1};
	char instance[17];
	int rc;

	(void)ctx;
	snprintf(instance, sizeof(instance), "doctor%d", (int)getpid() % 1000000);
	rc = inis_cgroup_root_open(&g.root, instance, err);
	if (rc == 0)
		rc = use(&g, err);
	clean_up(&g);
	return rc;
}

void doctor_check_cgroups(struct doctor_report *r, const struct doctor_subject *s)
{
	doctor_try(r, s, "cgroups", DOCTOR_STEP_CGROUP, try_group, NULL,
		   "limits of processor, memory and processes; freezing; killing");
}
