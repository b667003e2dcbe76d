/* SPDX-License-Identifier: Apache-2.0
 *
 * chance.h - chance that can be played again, for tests whose peer means harm. INIS_TEST_SEED repeats a run.
 */
#ifndef INIS_TESTS_UNIT_CHANCE_H
#define INIS_TESTS_UNIT_CHANCE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t state_of_chance;

/* One of 0 … below-1, by xorshift64*: the same on every machine. */
static inline uint32_t chance(uint32_t below)
{
	state_of_chance ^= state_of_chance >> 12;
	state_of_chance ^= state_of_chance << 25;
	state_of_chance ^= state_of_chance >> 27;
	return (uint32_t)((state_of_chance * 2685821657736338717ULL) >> 33) % below;
}

static inline void seed_chance(uint64_t seed)
{
	state_of_chance = seed | 1ULL << 63;
}

/* Says the seed. */
static inline void begin_chance(void)
{
	const char *text = getenv("INIS_TEST_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);

	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	seed_chance(seed);
}

#endif
