/* SPDX-License-Identifier: Apache-2.0
 *
 * ranges.c - allocator of id ranges.
 */
#include "driver/container/ranges.h"

#include <fcntl.h>
#include <stdlib.h>

int ranges_init(struct ranges *r, uint32_t base, uint32_t count, int locks, struct inis_error *err)
{
	*r = (struct ranges){.base = base, .count = count, .locks = locks};
	if (base == 0 || base % INIS_RANGE_SIZE != 0 || count == 0 ||
	    (uint64_t)base + (uint64_t)count * INIS_RANGE_SIZE > UINT32_MAX - INIS_RANGE_SIZE)
		return inis_fail(err, INIS_BAD_REQUEST, "uid ranges from %u, %u of them, do not fit", base, count);
	r->used = calloc(count, 1);
	if (!r->used)
		return inis_fail(err, INIS_UNAVAILABLE, "no memory for %u uid ranges", count);
	return 0;
}

void ranges_free(struct ranges *r)
{
	free(r->used);
	r->used = NULL;
}

static bool lock(struct ranges *r, uint32_t i, short type)
{
	/* Ranges of servers with different bases are told apart by their position in the id space. */
	off_t at = (off_t)(r->base / INIS_RANGE_SIZE) + (off_t)i;
	struct flock byte = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

	return r->locks < 0 || fcntl(r->locks, F_OFD_SETLK, &byte) == 0;
}

uint32_t ranges_take(struct ranges *r, struct inis_error *err)
{
	for (uint32_t n = 0; n < r->count; n++) {
		uint32_t i = (r->next + n) % r->count;

		if (r->used[i] || !lock(r, i, F_WRLCK))
			continue;
		r->used[i] = 1;
		r->next = (i + 1) % r->count;
		return r->base + i * INIS_RANGE_SIZE;
	}
	inis_fail(err, INIS_UNAVAILABLE, "all %u uid ranges are in use", r->count);
	return 0;
}

static bool index_of(const struct ranges *r, uint32_t first, uint32_t *i)
{
	if (first < r->base || (first - r->base) % INIS_RANGE_SIZE != 0)
		return false;
	*i = (first - r->base) / INIS_RANGE_SIZE;
	return *i < r->count;
}

bool ranges_claim(struct ranges *r, uint32_t first)
{
	uint32_t i;

	if (!index_of(r, first, &i) || r->used[i] || !lock(r, i, F_WRLCK))
		return false;
	r->used[i] = 1;
	return true;
}

void ranges_give(struct ranges *r, uint32_t first)
{
	uint32_t i;

	if (!index_of(r, first, &i) || !r->used[i])
		return;
	r->used[i] = 0;
	lock(r, i, F_UNLCK);
}
