/* SPDX-License-Identifier: Apache-2.0
 *
 * ranges.h - ranges of 65536 uids and gids, one for each unit.
 *
 * A range is taken before the unit exists and given back when all of it is gone. Servers of one machine share a
 * file of byte locks, so that no two hand out the same range while they run.
 */
#ifndef INIS_DRIVER_CONTAINER_RANGES_H
#define INIS_DRIVER_CONTAINER_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define INIS_RANGE_SIZE 65536u

struct ranges {
	uint32_t base;
	uint32_t count;
	uint32_t next; /* where to look first: a range rests as long as possible before it is used again */
	int locks; /* -1: no other servers */
	uint8_t *used; /* one byte each */
};

/* base must be a multiple of 65536 and all ranges below 2^32 - 65536. */
int ranges_init(struct ranges *r, uint32_t base, uint32_t count, int locks, struct inis_error *err);
void ranges_free(struct ranges *r);

/* First uid of a free range, or 0 and unavailable. */
uint32_t ranges_take(struct ranges *r, struct inis_error *err);
/* Marks the range of a unit found alive; false when it is not one of ours or already taken. */
bool ranges_claim(struct ranges *r, uint32_t first);
void ranges_give(struct ranges *r, uint32_t first);

#endif
