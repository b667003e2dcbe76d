/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.h - what a kind of isolation must be able to do.
 *
 * The broker owns one driver of each kind it offers and calls it from its one
 * thread, which also runs the event loop that the driver was made with. Calls must
 * not block longer than a few milliseconds; what takes longer is begun by the call
 * and ends in a callback from the loop (create, destroy, freeze) or runs in a child
 * of its own (snapshot, restore, fork). What fails has undone what it did.
 */
#ifndef INIS_DRIVER_DRIVER_H
#define INIS_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/id.h"
#include "wire/broker_proto.h"

struct inis_driver;

/* An isolation unit. The driver embeds this first in its own struct. */
struct inis_unit {
	struct unit_id id;
	struct session_id session; /* "" while in the pool */
	int pid; /* PID 1 of the unit, here */
	int pidfd; /* owned */
	uint64_t start_time; /* field 22 of /proc/PID/stat */
	uint32_t uid_base;
	enum inis_disk_kind disk_kind;
	uint32_t disk_mb;
	bool frozen;
	bool exited; /* PID 1 is gone */
	bool pooled; /* it was ready when its session asked for one */
};

/* Ends what was begun about a unit; err is NULL on success. After a destroy the struct is freed. */
typedef void (*inis_driver_done)(void *ctx, const struct unit_id *id, const struct inis_error *err);

/* Ends a create: a unit with its agent listening, and a connection to it (now the callee's); or NULL, -1 and err. */
typedef void (*inis_driver_created)(void *ctx, struct inis_unit *u, int agent, const struct inis_error *err);

struct inis_driver_ops {
	const char *isolation; /* "container" or "vm": shown by the API */

	/* Makes one blank unit for the pool, if it holds fewer than its target. 1 made, 0 full, -1. */
	int (*refill)(struct inis_driver *d, struct inis_error *err);

	/* A unit for the session, from the pool, else made now. created is called exactly once, perhaps at once. */
	void (*create)(struct inis_driver *d, const struct inis_broker_create *spec, inis_driver_created created,
		       void *ctx);

	/* A fresh connection to the unit's agent (caller owns), or -1. */
	int (*connect)(struct inis_driver *d, struct inis_unit *u, struct inis_error *err);

	/* Begins to kill and remove all of it. Never waits; allowed in every state of a unit, once. */
	void (*destroy)(struct inis_driver *d, struct inis_unit *u, inis_driver_done done, void *ctx);

	/*
	 * Whether this unit is being destroyed without anybody having asked, as one that an earlier driver left
	 * halfway: then done is called as by destroy().
	 */
	bool (*await_end)(struct inis_driver *d, const struct unit_id *id, inis_driver_done done, void *ctx);

	/* One at a time for each unit: a second one while the first has not ended fails with conflict. */
	void (*freeze)(struct inis_driver *d, struct inis_unit *u, inis_driver_done done, void *ctx);
	void (*thaw)(struct inis_driver *d, struct inis_unit *u, inis_driver_done done, void *ctx);
	int (*stats)(struct inis_driver *d, struct inis_unit *u, struct inis_broker_stats *out, struct inis_error *err);

	/* The units in use, one after another: NULL gives the first, the last gives NULL. */
	struct inis_unit *(*next)(struct inis_driver *d, struct inis_unit *after);

	/* The templates that units can be made from, by number from 0, the default one first; false after the last. */
	bool (*describe)(struct inis_driver *d, unsigned index, struct inis_broker_template *out);

	/* NULL where the driver cannot (yet): the broker answers not_implemented. */
	int (*resize)(struct inis_driver *d, struct inis_unit *u, const struct inis_broker_create *spec,
		      struct inis_error *err);
	int (*snapshot)(struct inis_driver *d, struct inis_unit *u, struct inis_error *err);
	struct inis_unit *(*restore)(struct inis_driver *d, const struct inis_broker_create *spec,
				     struct inis_error *err);
	struct inis_unit *(*fork)(struct inis_driver *d, struct inis_unit *parent,
				  const struct inis_broker_create *spec, struct inis_error *err);

	/* Removes the pool and lets go of the units in use, which run on and are found again by the next driver. */
	void (*free)(struct inis_driver *d);
};

struct inis_driver {
	const struct inis_driver_ops *ops;
	/* Set by the broker: PID 1 of a unit in use ended by itself. The unit still needs destroy. */
	void (*exited)(void *ctx, struct inis_unit *u);
	/* Set by the broker: a unit of the pool, or one on its way there, is no more without anybody having had it. */
	void (*pool_short)(void *ctx);
	/* Set by the broker: describe() now says something else. */
	void (*templates_changed)(void *ctx);
	void *ctx;
	/* Kept by the driver. */
	uint32_t pool_ready;
	uint32_t pool_target;
	enum inis_disk_kind disk_kind; /* what new units get */
};

#endif
