/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.c - making a blank unit.
 *
 * The agent is cloned straight into its namespaces and its v2 cgroup and waits for a byte while the broker maps its
 * ids and the builder attaches its v1 cgroups; only then does it make its cgroup namespace (whose root is so the
 * unit's group in every hierarchy) and become root of its range. Meanwhile the builder makes its root.
 *
 * What needs no process, the disk above all, is made ahead for one unit more than the pool has.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/wall.h"
#include "driver/container/internal.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/proc.h"

static uint64_t namespaces(void)
{
	return (uint64_t)(WALL("ns.user") ? CLONE_NEWUSER : 0) | CLONE_NEWNS | (WALL("ns.pid") ? CLONE_NEWPID : 0) |
	       (WALL("ns.net") ? CLONE_NEWNET : 0) | (WALL("ns.ipc") ? CLONE_NEWIPC : 0) |
	       (WALL("ns.uts") ? CLONE_NEWUTS : 0) | (WALL("ns.time") ? CLONE_NEWTIME : 0);
}

static int map_ids(pid_t pid, uint32_t first, struct inis_error *err)
{
	char path[32];
	char map[48];
	cleanup_close int proc = -1;

	if (!WALL("ns.user"))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return inis_fail_errno(err, "open %s", path);
	snprintf(map, sizeof(map), "0 %u %u", first, INIS_RANGE_SIZE);
	if (inis_write_at(proc, "uid_map", map, err) < 0)
		return -1;
	return inis_write_at(proc, "gid_map", map, err);
}

/* Moving a process from one v1 group to another waits for the kernel's grace periods: not on the loop's thread. */
static int let_agent_go(struct cunit *cu, struct inis_error *err)
{
	char go = 1;

	if (inis_cgroup_attach_v1(&cu->c->cgroups, cu->u.id.s, cu->u.pid, err) < 0)
		return -1;
	return send(cu->sock, &go, 1, MSG_NOSIGNAL) == 1 ? 0 : inis_fail_errno(err, "start the agent");
}

/* On the builder's thread. */
static void work_layers(struct inis_job *job)
{
	struct cunit *cu = field_owner(job, struct cunit, job);

	struct inis_error *err = &cu->layers_error;

	*err = (struct inis_error)INIS_ERROR_INIT;
	/* Then the agent starts, while its root is being made. */
	if (let_agent_go(cu, err) == 0 && cunit_make_rootfs(cu, cu->c->config.disk_mb, cu->userns, err) == 0)
		inis_cgroup_limit(&cu->c->cgroups, cu->u.id.s, &cu->limits, err);
}

static void fill_record(struct cunit *cu)
{
	struct record *r = &cu->record;

	memcpy(r->boot_id, cu->c->boot_id, sizeof(r->boot_id));
	memcpy(r->base, cu->base->name, sizeof(r->base));
	r->pid = cu->u.pid;
	r->start_time = cu->u.start_time;
	r->uid_base = cu->u.uid_base;
	r->disk_kind = (uint32_t)cu->layer.kind;
	r->disk_mb = cu->u.disk_mb;
	r->loop = cu->layer.loop;
}

static void layers_done(struct inis_job *job)
{
	struct cunit *cu = field_owner(job, struct cunit, job);
	struct inis_error *err = &cu->layers_error;

	cu->job_running = false;
	if (cu->state == CU_DYING) {
		cunit_destroy_step(cu);
		return;
	}
	fill_record(cu);
	if (err->code != INIS_OK || record_write(cu->dir, &cu->record, err) < 0) {
		cunit_drop_starting(cu, err);
		return;
	}
	cu->layers_made = true;
	cunit_started(cu);
}

void cunit_started(struct cunit *cu)
{
	struct container *c = cu->c;

	if (!cu->agent_ready || !cu->layers_made)
		return;
	inis_timer_stop(c->config.events, &cu->deadline);
	cu->state = CU_BLANK;
	c->driver.pool_ready++;
	if (c->room.is_short)
		room_look(c);
	pool_settle(c);
}

static int begin_layers(struct cunit *cu, struct inis_error *err)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", cu->u.pid);
	if (WALL("ns.user") && (cu->userns = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return inis_fail_errno(err, "open the user namespace of a unit");
	cunit_submit(cu, &cu->c->builder, work_layers, layers_done);
	return 0;
}

static int make_cgroup(struct cunit *cu, struct inis_error *err)
{
	const struct inis_cgroup_root *root = &cu->c->cgroups;

	if (inis_cgroup_make(root, cu->u.id.s, err) < 0)
		return -1;
	cu->cgroup = inis_cgroup_open(root, cu->u.id.s, err);
	if (cu->cgroup < 0)
		return -1;
	/* The agent makes one level of leaves. */
	if (inis_write_at(cu->cgroup, "cgroup.max.depth", "2", err) < 0)
		return -1;
	return inis_cgroup_delegate(cu->cgroup, WALL("ns.user") ? cu->u.uid_base : 0, err);
}

static int clone_agent(struct cunit *cu, struct inis_error *err)
{
	cleanup_close int ours = -1;
	cleanup_close int theirs = -1;
	int pair[2];
	pid_t pid;

	if (inis_packet_pair(pair, err) < 0)
		return -1;
	ours = pair[0];
	theirs = pair[1];
	overlay_hold();
	pid = zygote_clone(cu->c, namespaces(), theirs, cu->cgroup, &cu->u.pidfd, err);
	overlay_release();
	if (pid < 0)
		return -1;
	cu->u.pid = pid;
	cu->sock = take_fd(&ours);
	return 0;
}

static int start_agent(struct cunit *cu, struct inis_error *err)
{
	if (clone_agent(cu, err) < 0 || map_ids(cu->u.pid, cu->u.uid_base, err) < 0)
		return -1;
	cu->u.start_time = inis_start_time(cu->u.pid);
	if (inis_watch_start(cu->c->config.events, &cu->sock_watch, cu->sock, EPOLLIN, err) < 0)
		return -1;
	return cunit_watch_exit(cu, err);
}

/* What needs no process. */
static struct cunit *prepare(struct container *c, struct inis_error *err)
{
	struct unit_id id;
	struct cunit *cu;

	if (unit_id_new(&id, err) < 0)
		return NULL;
	cu = cunit_new(c, &id);
	if (!cu) {
		inis_fail(err, INIS_UNAVAILABLE, "no memory for a unit");
		return NULL;
	}
	cu->state = CU_SPARE;
	cu->u.disk_kind = c->disks.kind;
	cu->u.disk_mb = c->config.disk_mb;
	cu->u.uid_base = ranges_take(&c->ranges, err);
	cu->owns_range = cu->u.uid_base != 0;
	if (cu->owns_range)
		cu->dir = inis_make_dir_at(c->units_dir, cu->u.id.s, 0700, err);
	if (cu->dir >= 0 && make_cgroup(cu, err) == 0)
		return cu;
	cunit_destroy(&c->driver, &cu->u, NULL, NULL);
	return NULL;
}

static void work_spare(struct inis_job *job)
{
	struct cunit *cu = field_owner(job, struct cunit, job);

	cu->layers_error = (struct inis_error)INIS_ERROR_INIT;
	cunit_make_layer(cu, cu->u.disk_mb, &cu->layers_error);
}

static void spare_done(struct inis_job *job)
{
	struct cunit *cu = field_owner(job, struct cunit, job);

	cu->job_running = false;
	if (cu->state == CU_DYING)
		cunit_destroy_step(cu);
	else if (cu->layers_error.code != INIS_OK)
		cunit_drop_starting(cu, &cu->layers_error);
}

int cunit_spare(struct container *c, struct inis_error *err)
{
	struct cunit *cu = prepare(c, err);

	if (!cu)
		return -1;
	cunit_submit(cu, &cu->c->builder, work_spare, spare_done);
	return 0;
}

static struct cunit *take_spare(struct container *c)
{
	struct cunit *cu = c->units;

	while (cu && (cu->state != CU_SPARE || cu->job_running))
		cu = cu->next;
	return cu;
}

int cunit_spawn(struct container *c, struct inis_error *err)
{
	struct cunit *cu = take_spare(c);

	if (!cu)
		cu = prepare(c, err);
	if (!cu)
		return -1;
	cu->state = CU_STARTING;
	cu->limits = c->usual;
	cu->base = base_find(c, "");
	inis_timer_start(c->config.events, &cu->deadline, START_DEADLINE_MS);
	if (start_agent(cu, err) == 0 && begin_layers(cu, err) == 0)
		return 0;
	cunit_destroy(&c->driver, &cu->u, NULL, NULL);
	return -1;
}
