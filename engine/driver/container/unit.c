/* SPDX-License-Identifier: Apache-2.0
 *
 * unit.c - the struct of a unit: made, watched, freed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "driver/container/internal.h"
#include "os/fd.h"
#include "os/proc.h"

static void on_socket(struct inis_watch *w, uint32_t events);
static void on_exit_event(struct inis_watch *w, uint32_t events);
static void on_deadline(struct inis_timer *t);

struct cunit *cunit_new(struct container *c, const struct unit_id *id)
{
	struct cunit *cu = calloc(1, sizeof(*cu));

	if (!cu)
		return NULL;
	cu->c = c;
	cu->u.id = *id;
	cu->u.pidfd = cu->dir = cu->cgroup = cu->sock = cu->agent = cu->root = cu->usr = cu->cgroup_events =
		cu->userns = -1;
	cu->layer.mount = cu->layer.loop = -1;
	cu->sock_watch = (struct inis_watch)INIS_WATCH_INIT(on_socket);
	cu->exit_watch = (struct inis_watch)INIS_WATCH_INIT(on_exit_event);
	cu->deadline.fire = on_deadline;
	cu->change_watch.fd = -1;
	record_init(&cu->record);
	cu->record.id = *id;
	cu->next = c->units;
	c->units = cu;
	return cu;
}

static void unlink_unit(struct cunit *cu)
{
	struct cunit **at = &cu->c->units;

	while (*at != cu)
		at = &(*at)->next;
	*at = cu->next;
}

void cunit_free(struct cunit *cu)
{
	struct inis_events *ev = cu->c->config.events;

	unlink_unit(cu);
	inis_watch_stop(ev, &cu->sock_watch);
	inis_watch_stop(ev, &cu->exit_watch);
	inis_watch_stop(ev, &cu->change_watch);
	inis_timer_stop(ev, &cu->deadline);
	inis_timer_stop(ev, &cu->change_timer);
	inis_timer_stop(ev, &cu->destroy_timer);
	layer_release(&cu->layer);
	close_fd(&cu->u.pidfd);
	close_fd(&cu->dir);
	close_fd(&cu->cgroup);
	close_fd(&cu->sock);
	close_fd(&cu->agent);
	close_fd(&cu->root);
	close_fd(&cu->usr);
	close_fd(&cu->cgroup_events);
	close_fd(&cu->userns);
	free(cu->want);
	free(cu);
}

int cunit_watch_exit(struct cunit *cu, struct inis_error *err)
{
	return inis_watch_start(cu->c->config.events, &cu->exit_watch, cu->u.pidfd, EPOLLIN, err);
}

void cunit_loop_label(const struct cunit *cu, char label[static LAYER_LABEL_SIZE])
{
	snprintf(label, LAYER_LABEL_SIZE, "inis-%s-%s", cu->c->config.instance, cu->u.id.s);
}

int cunit_open_layer(struct cunit *cu, struct inis_error *err)
{
	char label[LAYER_LABEL_SIZE];

	cunit_loop_label(cu, label);
	return layer_reopen(&cu->layer, label, err);
}

void cunit_submit(struct cunit *cu, struct inis_worker *worker, void (*work)(struct inis_job *job),
		  void (*done)(struct inis_job *job))
{
	cu->job.work = work;
	cu->job.done = done;
	cu->job_running = true;
	inis_worker_submit(worker, &cu->job);
}

static void sweep_done(struct inis_job *job)
{
	struct cunit *cu = field_owner(job, struct cunit, job);

	cu->job_running = false;
	if (cu->state == CU_DYING)
		cunit_destroy_step(cu);
}

bool cunit_sweep(struct cunit *cu, void (*work)(struct inis_job *job))
{
	if (cu->job_running)
		return false;
	cunit_submit(cu, &cu->c->sweeper, work, sweep_done);
	return true;
}

void cunit_drop_starting(struct cunit *cu, const struct inis_error *why)
{
	struct container *c = cu->c;

	c->last_start = *why;
	cunit_destroy(&c->driver, &cu->u, NULL, NULL);
	pool_settle(c);
	if (c->driver.pool_short)
		c->driver.pool_short(c->driver.ctx);
}

int cunit_hear(struct cunit *cu, enum inis_unit_verb verb, int *fd, struct inis_error *err)
{
	struct inis_unit_status status;
	size_t fds = 0, wanted = fd ? 1 : 0;
	ssize_t n = inis_packet_recv(cu->sock, &status, sizeof(status), fd, wanted, &fds, err);

	if (n < 0 && err->sys_errno == EAGAIN)
		return 0;
	if (n == sizeof(status) && status.magic == INIS_UNIT_MAGIC && status.verb == (uint32_t)verb && fds == wanted)
		return 1;
	if (n == sizeof(status) && status.verb == INIS_UNIT_FAILED) {
		inis_fail(err, INIS_UNAVAILABLE, "the agent of a unit failed: %.*s", (int)sizeof(status.text),
			  status.text);
		err->sys_errno = status.sys_errno;
		return -1;
	}
	return inis_fail(err, INIS_INTERNAL, "the agent of a unit ended");
}

static void on_ready(struct cunit *cu)
{
	struct inis_error err = INIS_ERROR_INIT;
	int rc = cunit_hear(cu, INIS_UNIT_READY, &cu->agent, &err);

	if (rc < 0) {
		cunit_drop_starting(cu, &err);
	} else if (rc > 0) {
		cu->agent_ready = true;
		cunit_started(cu);
	}
}

/* Not LIVE yet: its last words say why. */
static void agent_lost(struct cunit *cu)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (cunit_hear(cu, INIS_UNIT_ACTIVE, NULL, &err) >= 0)
		inis_fail(&err, INIS_INTERNAL, "the agent of a unit ended");
	if (cu->state == CU_ACTIVATING)
		cunit_activate_failed(cu, &err);
	else
		cunit_drop_starting(cu, &err);
}

static void on_socket(struct inis_watch *w, uint32_t events)
{
	struct cunit *cu = field_owner(w, struct cunit, sock_watch);

	(void)events;
	if (cu->state == CU_STARTING)
		on_ready(cu);
	else if (cu->state == CU_ACTIVATING)
		cunit_activate_event(cu);
	else if (cu->state == CU_BLANK)
		agent_lost(cu);
	else
		inis_watch_stop(cu->c->config.events, w);
}

static void on_exit_event(struct inis_watch *w, uint32_t events)
{
	struct cunit *cu = field_owner(w, struct cunit, exit_watch);
	struct container *c = cu->c;

	(void)events;
	if (!inis_pidfd_reap(cu->u.pidfd, NULL))
		return;
	inis_watch_stop(c->config.events, w);
	cu->u.exited = true;
	if (cu->state == CU_LIVE) {
		if (c->driver.exited)
			c->driver.exited(c->driver.ctx, &cu->u);
	} else if (cu->state == CU_STARTING || cu->state == CU_BLANK || cu->state == CU_ACTIVATING) {
		agent_lost(cu);
	} else {
		cunit_destroy_step(cu);
	}
}

static void on_deadline(struct inis_timer *t)
{
	struct cunit *cu = field_owner(t, struct cunit, deadline);
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_UNAVAILABLE, "the agent of a unit did not answer in time");
	if (cu->state == CU_LIVE)
		cunit_settle(cu);
	else if (cu->state == CU_ACTIVATING)
		cunit_activate_failed(cu, &err);
	else if (cu->state == CU_STARTING)
		cunit_drop_starting(cu, &err);
}
