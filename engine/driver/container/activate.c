/* SPDX-License-Identifier: Apache-2.0
 *
 * activate.c - a blank unit becomes a session's.
 *
 * The critical path of a create: limits, names, one packet, the agent's own work, one connection.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/wall.h"
#include "driver/container/internal.h"
#include "os/fd.h"
#include "os/mount.h"
#include "os/net.h"
#include "wire/agent_proto.h"

#define SHM_MB_MIN      64u
/* Settling flushes the image: not while the create is being stored and its first command starts. */
#define SETTLE_AFTER_MS 100

/* The pool's disks have one size and one base; another one is made now. */
static int fit_rootfs(struct cunit *cu, const struct inis_broker_create *spec, struct inis_error *err)
{
	bool disk_fits = spec->disk_mb == cu->u.disk_mb || cu->layer.kind == INIS_DISK_SOFT;
	struct base *base = base_find(cu->c, spec->template_name);

	if (!base)
		return inis_fail(err, INIS_NOT_FOUND, "there is no template %s any more", spec->template_name);
	if (base_hold(cu, base, err) < 0)
		return -1;
	cu->u.disk_mb = spec->disk_mb;
	if (disk_fits && cu->base == base)
		return 0;
	cunit_drop_rootfs(cu);
	cu->base = base;
	return cunit_make_rootfs(cu, spec->disk_mb, cu->userns, err);
}

struct parcel {
	struct inis_unit_activate message;
	int fds[INIS_UNIT_MOUNTS_MAX];
};

static void parcel_close(struct parcel *p)
{
	for (uint32_t i = 0; i < p->message.fd_count; i++)
		close_fd(&p->fds[i]);
}

/* Takes the descriptor over, valid or not. */
static int parcel_add(struct parcel *p, enum inis_unit_fd_kind kind, const char *target, int fd)
{
	struct inis_unit_fd *slot = &p->message.fds[p->message.fd_count];

	if (fd < 0)
		return -1;
	slot->kind = kind;
	snprintf(slot->target, sizeof(slot->target), "%s", target);
	p->fds[p->message.fd_count++] = fd;
	return 0;
}

/* The machine's /usr, where the set-uid programs are, is a mount of its own. */
static int forbid_set_uid(struct cunit *cu, struct inis_error *err)
{
	if (inis_mount_attrs(cu->root, MOUNT_ATTR_NOSUID, 0, -1, false, err) < 0)
		return -1;
	return cu->base->host ? inis_mount_attrs(cu->usr, MOUNT_ATTR_NOSUID, 0, -1, false, err) : 0;
}

static int parcel_fill(struct parcel *p, struct cunit *cu, const struct inis_broker_create *spec,
		       struct inis_error *err)
{
	struct inis_unit_activate *m = &p->message;
	bool no_sudo = spec->flags & INIS_CREATE_NO_SUDO;

	m->magic = INIS_UNIT_MAGIC;
	m->verb = INIS_UNIT_ACTIVATE;
	m->flags = no_sudo ? INIS_UNIT_NO_SUDO : 0;
	m->shm_mb = spec->mem_mb / 2 > SHM_MB_MIN ? spec->mem_mb / 2 : SHM_MB_MIN;
	snprintf(m->hostname, sizeof(m->hostname), "%s", spec->hostname[0] ? spec->hostname : "inis");
	if (no_sudo && WALL("no-sudo.nosuid") && forbid_set_uid(cu, err) < 0)
		return -1;
	if (parcel_add(p, INIS_UNIT_FD_ROOT, "", take_fd(&cu->root)) < 0 ||
	    (cu->base->host && parcel_add(p, INIS_UNIT_FD_MOUNT, "/usr", take_fd(&cu->usr)) < 0) ||
	    parcel_add(p, INIS_UNIT_FD_MOUNT, "/dev",
		       inis_mount_clone(AT_FDCWD, WALL("dev.own") ? RUN_DEV : "/dev", false, err)) < 0 ||
	    parcel_add(p, INIS_UNIT_FD_OOM_COUNTER, "", inis_cgroup_oom_counter(&cu->c->cgroups, cu->u.id.s, err)) <
		    0 ||
	    parcel_add(p, INIS_UNIT_FD_SPOOL, "", layer_open_spool(&cu->layer, err)) < 0)
		return -1;
	return 0;
}

static int set_limits(struct cunit *cu, const struct inis_broker_create *spec, struct inis_error *err)
{
	const struct inis_cgroup_limits limits = {
		.vcpus = WALL("limit.cpu") ? spec->vcpus : 0,
		.mem_mb = WALL("limit.memory") ? spec->mem_mb : 0,
		.pids_max = WALL("limit.pids") ? spec->pids_max : 0,
	};

	cu->c->usual = limits;
	if (limits.vcpus == cu->limits.vcpus && limits.mem_mb == cu->limits.mem_mb &&
	    limits.pids_max == cu->limits.pids_max)
		return 0;
	cu->limits = limits;
	return inis_cgroup_limit(&cu->c->cgroups, cu->u.id.s, &limits, err);
}

/* The names are written while the agent is moving in. */
static int send_activation(struct cunit *cu, const struct inis_broker_create *spec, struct inis_error *err)
{
	__attribute__((cleanup(parcel_close))) struct parcel parcel = {0};

	if (fit_rootfs(cu, spec, err) < 0 || set_limits(cu, spec, err) < 0 || parcel_fill(&parcel, cu, spec, err) < 0)
		return -1;
	if (inis_packet_send(cu->sock, &parcel.message, sizeof(parcel.message), parcel.fds, parcel.message.fd_count,
			     err) < 0)
		return -1;
	return cunit_write_names(parcel.fds[0], parcel.message.hostname, err);
}

void cunit_activate_failed(struct cunit *cu, const struct inis_error *err)
{
	struct want *want = cu->want;

	cu->want = NULL;
	cunit_destroy(&cu->c->driver, &cu->u, NULL, NULL);
	want->created(want->ctx, NULL, -1, err);
	free(want);
}

void cunit_activate(struct cunit *cu, struct want *want)
{
	struct inis_error err = INIS_ERROR_INIT;

	cu->state = CU_ACTIVATING;
	cu->c->driver.pool_ready--;
	cu->want = want;
	inis_timer_start(cu->c->config.events, &cu->deadline, START_DEADLINE_MS);
	if (send_activation(cu, &want->spec, &err) < 0)
		cunit_activate_failed(cu, &err);
}

/* The record is what makes the unit the session's: written before anybody is told. */
static int go_live(struct cunit *cu, struct inis_error *err)
{
	cu->u.session = cu->want->spec.session;
	cu->record.session = cu->u.session;
	memcpy(cu->record.base, cu->base->name, sizeof(cu->record.base));
	cu->record.disk_mb = cu->u.disk_mb;
	cu->record.loop = cu->layer.loop;
	if (record_write(cu->dir, &cu->record, err) < 0)
		return -1;
	inis_watch_stop(cu->c->config.events, &cu->sock_watch);
	inis_timer_stop(cu->c->config.events, &cu->deadline);
	close_fd(&cu->sock);
	close_fd(&cu->userns);
	return cunit_connect(&cu->c->driver, &cu->u, err);
}

static void work_settle(struct inis_job *job)
{
	layer_settle(&field_owner(job, struct cunit, job)->layer);
}

void cunit_settle(struct cunit *cu)
{
	if (!cunit_sweep(cu, work_settle))
		inis_timer_start(cu->c->config.events, &cu->deadline, SETTLE_AFTER_MS);
}

void cunit_activate_event(struct cunit *cu)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct want *want = cu->want;
	int agent = -1;
	int rc = cunit_hear(cu, INIS_UNIT_ACTIVE, NULL, &err);

	if (rc == 0)
		return;
	if (rc < 0 || (agent = go_live(cu, &err)) < 0) {
		cunit_activate_failed(cu, &err);
		return;
	}
	cu->state = CU_LIVE;
	cu->want = NULL;
	want->created(want->ctx, &cu->u, agent, NULL);
	free(want);
	if (cu->state == CU_LIVE)
		inis_timer_start(cu->c->config.events, &cu->deadline, SETTLE_AFTER_MS);
}

int cunit_connect(struct inis_driver *d, struct inis_unit *u, struct inis_error *err)
{
	cleanup_close int sock = -1;

	(void)d;
	if (u->exited)
		return inis_fail(err, INIS_SESSION_ENDED, "the unit has ended");
	sock = take_fd(&((struct cunit *)u)->agent);
	if (sock < 0)
		sock = inis_net_socket_in(u->pidfd, AF_UNIX, SOCK_STREAM, err);
	if (sock < 0 || inis_net_connect_abstract(sock, INIS_AGENT_SOCKET, err) < 0)
		return -1;
	return take_fd(&sock);
}
