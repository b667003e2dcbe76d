/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.c - making a blank unit.
 *
 * The child is cloned straight into its namespaces and its v2 cgroup and waits for a byte while the broker maps its
 * ids and the builder attaches its v1 cgroups; only then does it make its cgroup namespace (whose root is so the
 * unit's group in every hierarchy), become root of its range and exec the agent. Meanwhile the builder makes its root.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/wall.h"
#include "driver/container/internal.h"
#include "os/fd.h"
#include "os/net.h"
#include "os/path.h"
#include "os/proc.h"

#define CLEAR_SIGNALS 0x100000000ULL /* CLONE_CLEAR_SIGHAND */

static uint64_t namespaces(void)
{
	return (uint64_t)(WALL("ns.user") ? CLONE_NEWUSER : 0) | CLONE_NEWNS | (WALL("ns.pid") ? CLONE_NEWPID : 0) |
	       (WALL("ns.net") ? CLONE_NEWNET : 0) | (WALL("ns.ipc") ? CLONE_NEWIPC : 0) |
	       (WALL("ns.uts") ? CLONE_NEWUTS : 0) | (WALL("ns.time") ? CLONE_NEWTIME : 0);
}

/* In the child. Which step failed goes into the exit status, for whoever traces it. */
static _Noreturn void become_agent(int sock, int ours)
{
	char name[] = "inis-agent";
	char *const argv[] = {name, NULL};
	char *const envp[] = {INIS_WALLS_ENTRY(), NULL};
	sigset_t none;
	char go;
	int flags = fcntl(sock, F_GETFL);

	/* Held here, it would hide the broker's end. */
	close(ours);
	if (fcntl(sock, F_SETFL, flags & ~O_NONBLOCK) < 0 || recv(sock, &go, 1, 0) != 1)
		_exit(100);
	fcntl(sock, F_SETFL, flags);
	if (WALL("ns.cgroup") && unshare(CLONE_NEWCGROUP) < 0)
		_exit(101);
	/* Not by the C library, which would want to tell threads that this process does not have. */
	if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, 0, 0, 0) < 0 ||
	    syscall(SYS_setresuid, 0, 0, 0) < 0)
		_exit(102);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	umask(022);
	if (inis_fds_place(INIS_UNIT_FD, &sock, 1, NULL) < 0)
		_exit(103);
	execve(RUN_AGENT, argv, envp);
	_exit(104);
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
	/* Without it the connection makes its own. */
	cu->agent = inis_net_socket_in(cu->u.pidfd, AF_UNIX, SOCK_STREAM, NULL);
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
	cu->job.work = work_layers;
	cu->job.done = layers_done;
	cu->job_running = true;
	inis_worker_submit(&cu->c->builder, &cu->job);
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
	pid = inis_clone3(namespaces() | CLEAR_SIGNALS, cu->cgroup, &cu->u.pidfd, NULL);
	if (pid == 0)
		become_agent(theirs, ours);
	overlay_release();
	if (pid < 0)
		return inis_fail_errno(err, "make the namespaces of a unit");
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

static int build(struct cunit *cu, struct inis_error *err)
{
	struct container *c = cu->c;

	cu->u.uid_base = ranges_take(&c->ranges, err);
	if (cu->u.uid_base == 0)
		return -1;
	cu->owns_range = true;
	cu->u.disk_kind = c->disks.kind;
	cu->u.disk_mb = c->config.disk_mb;
	cu->limits = c->usual;
	cu->base = base_find(c, "");
	cu->dir = inis_make_dir_at(c->units_dir, cu->u.id.s, 0700, err);
	if (cu->dir < 0 || make_cgroup(cu, err) < 0 || start_agent(cu, err) < 0)
		return -1;
	return begin_layers(cu, err);
}

int cunit_spawn(struct container *c, struct inis_error *err)
{
	struct unit_id id;
	struct cunit *cu;

	if (unit_id_new(&id, err) < 0)
		return -1;
	cu = cunit_new(c, &id);
	if (!cu)
		return inis_fail(err, INIS_UNAVAILABLE, "no memory for a unit");
	cu->state = CU_STARTING;
	inis_timer_start(c->config.events, &cu->deadline, START_DEADLINE_MS);
	if (build(cu, err) < 0) {
		cunit_destroy(&c->driver, &cu->u, NULL, NULL);
		return -1;
	}
	return 0;
}
