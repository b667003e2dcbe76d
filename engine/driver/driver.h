/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.h - what a kind of isolation must be able to do.
 *
 * The broker owns one driver of each kind it offers and calls it from its one
 * thread. Calls must not block longer than a few milliseconds; what takes longer
 * is begun and finished by completion (destroy) or runs in a child of its own
 * (snapshot, restore, fork). A call that fails has undone what it did.
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
};

/* Called when a destroy has ended and the struct is freed; err is NULL on success. */
typedef void (*inis_driver_done)(void *ctx, const struct unit_id *id, const struct inis_error *err);

struct inis_driver_ops {
	const char *isolation; /* "container" or "vm": shown by the API */

	/* Makes one blank unit for the pool, if it holds fewer than its target. 1 made, 0 full, -1. */
	int (*refill)(struct inis_driver *d, struct inis_error *err);

	/* A ready unit for the session, its agent listening; from the pool, else made now. */
	struct inis_unit *(*create)(struct inis_driver *d, const struct inis_broker_create *spec,
				    struct inis_error *err);

	/* A fresh connection to the unit's agent (caller owns), or -1. */
	int (*connect)(struct inis_driver *d, struct inis_unit *u, struct inis_error *err);

	/* Begins to kill and remove all of it; done is called once, from the driver's poll. Never waits. */
	void (*destroy)(struct inis_driver *d, struct inis_unit *u, inis_driver_done done, void *ctx);

	int (*freeze)(struct inis_driver *d, struct inis_unit *u, struct inis_error *err);
	int (*thaw)(struct inis_driver *d, struct inis_unit *u, struct inis_error *err);
	int (*stats)(struct inis_driver *d, struct inis_unit *u, struct inis_broker_stats *out, struct inis_error *err);

	/* NULL where the driver cannot (yet): the broker answers not_implemented. */
	int (*resize)(struct inis_driver *d, struct inis_unit *u, const struct inis_broker_create *spec,
		      struct inis_error *err);
	int (*snapshot)(struct inis_driver *d, struct inis_unit *u, struct inis_error *err);
	struct inis_unit *(*restore)(struct inis_driver *d, const struct inis_broker_create *spec,
				     struct inis_error *err);
	struct inis_unit *(*fork)(struct inis_driver *d, struct inis_unit *parent,
				  const struct inis_broker_create *spec, struct inis_error *err);
};

struct inis_driver {
	const struct inis_driver_ops *ops;
};

#endif
