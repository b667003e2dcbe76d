/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c - times and deadlines.
 */
#include "base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

static int64_t read_us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

inis_ms inis_now_ms(void)
{
	return read_us(CLOCK_BOOTTIME) / 1000;
}

int64_t inis_now_us(void)
{
	return read_us(CLOCK_BOOTTIME);
}

inis_ms inis_wall_ms(void)
{
	return read_us(CLOCK_REALTIME) / 1000;
}

inis_ms inis_deadline_in(inis_ms ms)
{
	inis_ms at;

	if (__builtin_add_overflow(inis_now_ms(), ms, &at))
		return INIS_NEVER;
	return at;
}

int inis_deadline_poll(inis_ms deadline)
{
	inis_ms left;

	if (deadline == INIS_NEVER)
		return -1;
	left = deadline - inis_now_ms();
	if (left < 0)
		return 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

void inis_rfc3339(inis_ms wall_ms, char out[static INIS_RFC3339_SIZE])
{
	time_t sec = wall_ms / 1000;
	char date[20]; /* "YYYY-MM-DDThh:mm:ss" */
	struct tm tm;

	gmtime_r(&sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, INIS_RFC3339_SIZE, "%.19s.%03uZ", date, (unsigned)(wall_ms % 1000) % 1000U);
}
