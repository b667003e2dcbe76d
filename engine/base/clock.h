/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.h - times and deadlines.
 *
 * In the process: absolute milliseconds of CLOCK_BOOTTIME, so that a suspended
 * machine does not stretch a deadline. When stored or shown: wall-clock
 * milliseconds since the epoch.
 */
#ifndef INIS_BASE_CLOCK_H
#define INIS_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

typedef int64_t inis_ms;

#define INIS_NEVER INT64_MAX

inis_ms inis_now_ms(void); /* CLOCK_BOOTTIME */
int64_t inis_now_us(void); /* CLOCK_BOOTTIME, microseconds */
inis_ms inis_wall_ms(void); /* CLOCK_REALTIME */

/* now + ms, saturating at INIS_NEVER. */
inis_ms inis_deadline_in(inis_ms ms);

/* Milliseconds left, 0 when past; for poll(): -1 when never, clamped to INT_MAX. */
int inis_deadline_poll(inis_ms deadline);

#define INIS_RFC3339_SIZE 25
/* "2026-08-05T12:00:00.123Z" of wall-clock ms. */
void inis_rfc3339(inis_ms wall_ms, char out[static INIS_RFC3339_SIZE]);

#endif
