/* SPDX-License-Identifier: Apache-2.0
 *
 * world.c - the simulated world: chance, and what happens when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulation.h"

bool loud;

unsigned dice(struct world *w, unsigned sides)
{
	/* xorshift: the same histories on every machine. */
	w->dice ^= w->dice << 13;
	w->dice ^= w->dice >> 7;
	w->dice ^= w->dice << 17;
	return (unsigned)(w->dice >> 33) % sides;
}

inis_ms up_to(struct world *w, inis_ms max)
{
	return (inis_ms)(((uint64_t)dice(w, 1u << 30) << 20 | dice(w, 1u << 20)) % (uint64_t)(max + 1));
}

struct pending *later(struct world *w, enum what what, inis_ms in)
{
	struct pending *p = &w->pending[w->count];

	assert_true(w->count < PENDING_MAX);
	w->count++;
	*p = (struct pending){.at = w->now + in, .what = what, .epoch = w->epoch};
	return p;
}

bool is_pending(const struct world *w, enum what what)
{
	for (unsigned i = 0; i < w->count; i++) {
		if (w->pending[i].what == what)
			return true;
	}
	return false;
}

void drop(struct world *w, enum what what)
{
	for (unsigned i = 0; i < w->count;) {
		if (w->pending[i].what == what)
			w->pending[i] = w->pending[--w->count];
		else
			i++;
	}
}

struct pending next(struct world *w)
{
	unsigned first = 0;
	struct pending p;

	for (unsigned i = 1; i < w->count; i++) {
		if (w->pending[i].at < w->pending[first].at)
			first = i;
	}
	p = w->pending[first];
	w->pending[first] = w->pending[--w->count];
	w->now = p.at > w->now ? p.at : w->now;
	return p;
}
