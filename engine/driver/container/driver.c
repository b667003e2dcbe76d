/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c - the container driver as the broker sees it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "driver/container/internal.h"
#include "os/path.h"

#define FREE_DEADLINE_MS 5000
#define PROOF_MEM_MB     64
#define PROOF_PIDS       64

static struct inis_unit *next_unit(struct inis_driver *d, struct inis_unit *after)
{
	struct cunit *cu = after ? ((struct cunit *)after)->next : container_of_driver(d)->units;

	while (cu && cu->state != CU_LIVE)
		cu = cu->next;
	return cu ? &cu->u : NULL;
}

static bool pool_left(const struct container *c)
{
	for (const struct cunit *cu = c->units; cu; cu = cu->next) {
		if (cu->state != CU_LIVE)
			return true;
	}
	return false;
}

static void fail_wants(struct container *c)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_UNAVAILABLE, "the broker is ending");
	while (c->wants) {
		struct want *w = c->wants;

		c->wants = w->next;
		w->created(w->ctx, NULL, -1, &err);
		free(w);
	}
}

/* What is not a session's now never will be. */
static void destroy_pool(struct container *c)
{
	inis_ms deadline = inis_deadline_in(FREE_DEADLINE_MS);
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_UNAVAILABLE, "the broker is ending");
	for (struct cunit *cu = c->units; cu; cu = cu->next) {
		if (cu->state == CU_ACTIVATING)
			cunit_activate_failed(cu, &err);
		else if (cu->state == CU_SPARE || cu->state == CU_STARTING || cu->state == CU_BLANK)
			cunit_destroy(&c->driver, &cu->u, NULL, NULL);
	}
	while (pool_left(c) && inis_now_ms() < deadline) {
		if (inis_events_step(c->config.events, 100, NULL) < 0)
			break;
	}
}

static void container_free(struct inis_driver *d)
{
	struct container *c = container_of_driver(d);

	c->driver.exited = NULL;
	c->driver.pool_short = NULL;
	fail_wants(c);
	if (c->units)
		destroy_pool(c);
	inis_worker_stop(&c->builder);
	inis_worker_stop(&c->keeper);
	inis_worker_stop(&c->sweeper);
	templates_unwatch(c);
	room_unwatch(c);
	while (c->units)
		cunit_free(c->units);
	zygote_stop(c);
	bases_close(c);
	if (c->cgroups.v2 >= 0)
		inis_cgroup_root_close(&c->cgroups);
	ranges_free(&c->ranges);
	close_fd(&c->units_dir);
	close_fd(&c->logs_dir);
	close_fd(&c->templates_dir);
	free(c);
}

static const struct inis_driver_ops container_ops = {
	.isolation = "container",
	.refill = pool_refill,
	.create = pool_create,
	.connect = cunit_connect,
	.destroy = cunit_destroy,
	.await_end = cunit_await_end,
	.freeze = cunit_freeze,
	.thaw = cunit_thaw,
	.stats = cunit_stats,
	.next = next_unit,
	.describe = base_describe,
	.free = container_free,
};

/* A create of nobody's. */
struct proof {
	struct container *c;
	bool over;
	bool made;
	bool gone;
	struct inis_error err;
};

static void on_proof_gone(void *ctx, const struct unit_id *id, const struct inis_error *err)
{
	struct proof *p = ctx;

	(void)id;
	(void)err;
	p->gone = true;
}

static void on_proof_made(void *ctx, struct inis_unit *u, int agent, const struct inis_error *err)
{
	struct proof *p = ctx;

	p->over = true;
	if (err)
		p->err = *err;
	close_fd(&agent);
	if (u) {
		p->made = true;
		cunit_destroy(&p->c->driver, u, on_proof_gone, p);
		cunit_spawn(p->c, NULL);
	}
}

static bool proof_waits(const struct container *c, const struct proof *p)
{
	return !p->over || (p->made && (!p->gone || pool_count(c, CU_STARTING) > 0));
}

static int start_proof(struct container *c, struct proof *p, struct inis_error *err)
{
	struct inis_broker_create spec = {
		.vcpus = 1, .mem_mb = PROOF_MEM_MB, .pids_max = PROOF_PIDS, .disk_mb = c->config.disk_mb};

	if (session_id_new(&spec.session, err) < 0)
		return -1;
	pool_create(&c->driver, &spec, on_proof_made, p);
	return 0;
}

/*
 * A whole unit, made and destroyed, is the proof that this machine can do it. The pool's first one is made meanwhile.
 */
static int prove(struct container *c, struct inis_error *err)
{
	inis_ms deadline = inis_deadline_in(3 * START_DEADLINE_MS);
	/* Its callbacks may come later than this function waits. */
	static struct proof p;

	p = (struct proof){.c = c};
	if (start_proof(c, &p, err) < 0)
		return -1;
	while (proof_waits(c, &p) && inis_now_ms() < deadline) {
		if (inis_events_step(c->config.events, 1000, err) < 0)
			return -1;
	}
	if (p.made)
		return 0;
	if (p.err.code == INIS_OK)
		inis_fail(&p.err, INIS_UNAVAILABLE, "its agent did not answer");
	return inis_fail(err, INIS_UNAVAILABLE, "a first unit could not be started: %.200s (agent %.80s)",
			 p.err.message, c->config.agent);
}

static int check_kernel(struct inis_error *err)
{
	struct utsname name;
	unsigned major_number = 0;
	unsigned minor_number = 0;

	uname(&name);
	sscanf(name.release, "%u.%u", &major_number, &minor_number);
	if (major_number > 6 || (major_number == 6 && minor_number >= 1))
		return 0;
	return inis_fail(err, INIS_UNAVAILABLE, "Linux 6.1 or later is needed; this is %s", name.release);
}

static int open_logs(struct container *c, int state, struct inis_error *err)
{
	if (c->config.logs_uid == 0)
		return 0;
	c->logs_dir = inis_make_dir_at(state, "logs", 0700, err);
	if (c->logs_dir < 0)
		return -1;
	if (fchown(c->logs_dir, c->config.logs_uid, c->config.logs_uid) < 0)
		return inis_fail_errno(err, "owner of %s/logs", c->config.state_dir);
	return 0;
}

static int set_up(struct container *c, struct inis_error *err)
{
	cleanup_close int state = inis_open_dir(c->config.state_dir, err);

	if (check_kernel(err) < 0 || state < 0 || inis_boot_id(c->boot_id, err) < 0)
		return -1;
	c->units_dir = inis_make_dir_at(state, "units", 0700, err);
	c->templates_dir = c->units_dir < 0 ? -1 : inis_make_dir_at(state, "templates", 0700, err);
	if (c->templates_dir >= 0)
		room_give_reserve(c);
	if (c->templates_dir < 0 || open_logs(c, state, err) < 0 ||
	    inis_worker_start(&c->builder, c->config.events, err) < 0 ||
	    inis_worker_start(&c->sweeper, c->config.events, err) < 0 ||
	    inis_worker_start(&c->keeper, c->config.events, err) < 0 ||
	    ranges_init(&c->ranges, c->config.uid_base, c->config.uid_ranges, c->config.range_locks, err) < 0 ||
	    inis_cgroup_root_open(&c->cgroups, c->config.instance, err) < 0 || container_adopt(c, err) < 0 ||
	    container_prepare(c, err) < 0 || zygote_start(c, err) < 0)
		return -1;
	if (prove(c, err) < 0)
		return -1;
	room_watch(c);
	return templates_watch(c, err);
}

struct inis_driver *inis_container_new(const struct inis_container_config *config, struct inis_error *err)
{
	struct container *c = calloc(1, sizeof(*c));

	if (!c) {
		inis_fail(err, INIS_UNAVAILABLE, "no memory for a driver");
		return NULL;
	}
	c->driver.ops = &container_ops;
	c->config = *config;
	c->driver.pool_target = config->pool;
	c->units_dir = c->templates_dir = c->logs_dir = -1;
	c->templates_watch.fd = -1;
	c->zygote.sock = c->zygote.pidfd = -1;
	c->cgroups.v2 = -1;
	if (set_up(c, err) < 0) {
		container_free(&c->driver);
		return NULL;
	}
	return &c->driver;
}
