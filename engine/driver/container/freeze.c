/* SPDX-License-Identifier: Apache-2.0
 *
 * freeze.c - freezing and thawing a unit.
 *
 * Mostly the kernel is done within microseconds, while its wake-ups for cgroup.events come at most every 10 ms:
 * so the file is read again a few times first, and only then waited for.
 */
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "driver/container/internal.h"

#define READ_AGAIN 64
#define POLL_MS    10

static void finish(struct cunit *cu, const struct inis_error *err)
{
	inis_driver_done done = cu->change_done;
	struct inis_events *ev = cu->c->config.events;

	inis_watch_stop(ev, &cu->change_watch);
	inis_timer_stop(ev, &cu->change_timer);
	close_fd(&cu->cgroup_events);
	cu->change_done = NULL;
	if (!err)
		cu->u.frozen = cu->change_to;
	done(cu->change_ctx, &cu->u.id, err);
}

static bool reached(struct cunit *cu)
{
	bool populated = false;
	bool frozen = false;

	return inis_cgroup_events_read(cu->cgroup_events, &populated, &frozen) == 0 && frozen == cu->change_to;
}

static void look(struct cunit *cu)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (reached(cu)) {
		finish(cu, NULL);
	} else if (inis_now_ms() >= cu->change_deadline) {
		inis_cgroup_set_frozen(cu->cgroup, !cu->change_to, NULL);
		inis_fail(&err, INIS_UNAVAILABLE, "the unit could not be %s in time",
			  cu->change_to ? "frozen" : "thawed");
		finish(cu, &err);
	} else {
		inis_timer_start(cu->c->config.events, &cu->change_timer, POLL_MS);
	}
}

static void on_change(struct inis_watch *w, uint32_t events)
{
	(void)events;
	look(field_owner(w, struct cunit, change_watch));
}

static void on_poll(struct inis_timer *t)
{
	look(field_owner(t, struct cunit, change_timer));
}

static int begin(struct cunit *cu, struct inis_error *err)
{
	cu->cgroup_events = inis_cgroup_events(cu->cgroup, err);
	if (cu->cgroup_events < 0)
		return -1;
	return inis_cgroup_set_frozen(cu->cgroup, cu->change_to, err);
}

static void change(struct cunit *cu, bool to, inis_driver_done done, void *ctx)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (cu->state != CU_LIVE || cu->change_done) {
		inis_fail(&err, INIS_CONFLICT, "the unit is being changed already");
		done(ctx, &cu->u.id, &err);
		return;
	}
	cu->change_to = to;
	cu->change_done = done;
	cu->change_ctx = ctx;
	cu->change_deadline = inis_deadline_in(FREEZE_DEADLINE_MS);
	cu->change_watch.ready = on_change;
	cu->change_timer.fire = on_poll;
	if (begin(cu, &err) < 0) {
		finish(cu, &err);
		return;
	}
	for (int i = 0; i < READ_AGAIN; i++) {
		if (reached(cu)) {
			finish(cu, NULL);
			return;
		}
	}
	/* Without the watch the timer still looks. */
	inis_watch_start(cu->c->config.events, &cu->change_watch, cu->cgroup_events, EPOLLPRI, NULL);
	look(cu);
}

void cunit_freeze(struct inis_driver *d, struct inis_unit *u, inis_driver_done done, void *ctx)
{
	(void)d;
	change((struct cunit *)u, true, done, ctx);
}

void cunit_thaw(struct inis_driver *d, struct inis_unit *u, inis_driver_done done, void *ctx)
{
	(void)d;
	change((struct cunit *)u, false, done, ctx);
}

void cunit_change_abort(struct cunit *cu, const struct inis_error *err)
{
	if (cu->change_done)
		finish(cu, err);
}
