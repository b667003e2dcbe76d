/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.c - blank units ahead of need, and creates that wait for one.
 *
 * A create takes the first blank unit, oldest create first. When there is none, a unit is started for each create
 * that waits, no more: a burst costs what its creates cost, and the pool is filled again when there is time. Beyond it
 * a spare is kept, which has a disk already: it saves the next unit half of its making, and costs no memory.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/container/internal.h"

#define HOSTNAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"

unsigned pool_count(const struct container *c, enum cunit_state state)
{
	unsigned n = 0;

	for (const struct cunit *cu = c->units; cu; cu = cu->next)
		n += cu->state == state;
	return n;
}

static unsigned count_wants(const struct container *c)
{
	unsigned n = 0;

	for (const struct want *w = c->wants; w; w = w->next)
		n++;
	return n;
}

static struct want *take_want(struct container *c)
{
	struct want *w = c->wants;

	if (w)
		c->wants = w->next;
	return w;
}

/* The unit that waited longest; new ones are put in front. */
static struct cunit *oldest_blank(struct container *c)
{
	struct cunit *found = NULL;

	for (struct cunit *cu = c->units; cu; cu = cu->next) {
		if (cu->state == CU_BLANK)
			found = cu;
	}
	return found;
}

static void fail_want(struct want *w, const struct inis_error *err)
{
	w->created(w->ctx, NULL, -1, err);
	free(w);
}

void pool_settle(struct container *c)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct cunit *cu;

	while (c->wants && (cu = oldest_blank(c))) {
		cu->u.pooled = !c->wants->waited;
		cunit_activate(cu, take_want(c));
	}
	/* Units whose agents died in vain leave creates without one: start anew as often as it works, else say why. */
	while (count_wants(c) > pool_count(c, CU_STARTING)) {
		if (c->last_start.code != INIS_OK)
			err = c->last_start;
		else if (cunit_spawn(c, &err) == 0)
			continue;
		c->last_start = (struct inis_error)INIS_ERROR_INIT;
		fail_want(take_want(c), &err);
	}
	c->last_start = (struct inis_error)INIS_ERROR_INIT;
}

int pool_refill(struct inis_driver *d, struct inis_error *err)
{
	struct container *c = container_of_driver(d);
	bool full = pool_count(c, CU_BLANK) + pool_count(c, CU_STARTING) >= c->config.pool + count_wants(c);

	if (full && pool_count(c, CU_SPARE) > 0)
		return 0;
	if (room_check(c, err) < 0)
		return -1;
	return (full ? cunit_spare(c, err) : cunit_spawn(c, err)) < 0 ? -1 : 1;
}

static int check_spec(struct container *c, const struct inis_broker_create *spec, struct inis_error *err)
{
	if (!base_find(c, spec->template_name))
		return inis_fail(err, INIS_NOT_FOUND, "there is no template of this name");
	if (strspn(spec->hostname, HOSTNAME_CHARS) != strlen(spec->hostname))
		return inis_fail(err, INIS_BAD_REQUEST, "a host name has letters, digits, dots and dashes only");
	if (spec->vcpus > 4096 || spec->mem_mb < 16 || spec->pids_max < 8)
		return inis_fail(err, INIS_BAD_REQUEST, "limits out of range");
	return room_check(c, err);
}

void pool_create(struct inis_driver *d, const struct inis_broker_create *spec, inis_driver_created created, void *ctx)
{
	struct container *c = container_of_driver(d);
	struct inis_error err = INIS_ERROR_INIT;
	struct want **tail = &c->wants;
	struct want *w;

	if (check_spec(c, spec, &err) < 0) {
		created(ctx, NULL, -1, &err);
		return;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		inis_fail(&err, INIS_UNAVAILABLE, "no memory for a create");
		created(ctx, NULL, -1, &err);
		return;
	}
	*w = (struct want){.spec = *spec, .created = created, .ctx = ctx, .waited = !oldest_blank(c)};
	while (*tail)
		tail = &(*tail)->next;
	*tail = w;
	pool_settle(c);
}
