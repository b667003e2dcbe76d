/* SPDX-License-Identifier: Apache-2.0
 *
 * metrics.h - what this process has done so far: counters and distributions, for GET /metrics.
 *
 * One struct for the whole process, in which the layers count what they do; only the API reads it. Any thread may
 * count: each number is right by itself, two read after another may be of different moments. Numbers only grow, and
 * begin at 0 with the process.
 */
#ifndef INIS_BASE_METRICS_H
#define INIS_BASE_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint64_t inis_counter;

#define INIS_BUCKETS 17

/* Upper bounds of the buckets, microseconds, rising; what is longer than the last is in one more bucket. */
extern const int64_t INIS_BUCKET_US[INIS_BUCKETS];

struct inis_histogram {
	inis_counter buckets[INIS_BUCKETS + 1]; /* each counts its own, not the ones before */
	inis_counter sum_us;
};

enum inis_create_end {
	CREATE_POOLED, /* its unit had been waiting for it */
	CREATE_UNPOOLED, /* its unit was made on the way */
	CREATE_FAILED, /* admitted, but no unit could be had */
	CREATE_REFUSED, /* not admitted */
	CREATE_END_COUNT
};

enum inis_exec_end {
	EXEC_END_EXITED,
	EXEC_END_TIMED_OUT,
	EXEC_END_OOM,
	EXEC_END_CANCELLED,
	EXEC_END_NOT_STARTED,
	EXEC_END_LOST, /* its end is not known: the session or the way to it is gone */
	EXEC_END_COUNT
};

/* Limits that have refused something. */
enum inis_limit { LIMIT_RATE, LIMIT_REQUESTS, LIMIT_SESSION_REQUESTS, LIMIT_SESSIONS, LIMIT_KEY_SESSIONS, LIMIT_COUNT };

#define INIS_METRICS_VERBS 16 /* of the broker protocol: numbers below */

struct inis_metrics {
	/* session */
	inis_counter creates[CREATE_END_COUNT];
	inis_counter execs_started; /* handed to a guest */
	inis_counter execs_ended[EXEC_END_COUNT];
	inis_counter processes_started;
	inis_counter terminals_attached; /* clients that came */
	inis_counter agent_reconnects;
	struct inis_histogram broker_verbs[INIS_METRICS_VERBS]; /* from the request to the last packet of the reply */
	inis_counter broker_failures[INIS_METRICS_VERBS];
	/* store */
	inis_counter store_queued;
	inis_counter store_written; /* with success or without */
	inis_counter store_failures;
	struct inis_histogram store_commits;
	/* http */
	inis_counter bytes_received;
	inis_counter bytes_sent;
	inis_counter connections; /* accepted */
	inis_counter malformed; /* requests that never became one */
	inis_counter limited[LIMIT_COUNT];
	/* daemon */
	struct inis_histogram loop_turns; /* what a turn of the loop takes without its waiting */
};

extern struct inis_metrics inis_metrics;

static inline void inis_count_n(inis_counter *c, uint64_t n)
{
	atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

static inline void inis_count(inis_counter *c)
{
	inis_count_n(c, 1);
}

static inline uint64_t inis_counted(const inis_counter *c)
{
	return atomic_load_explicit(c, memory_order_relaxed);
}

/* Negative durations (a clock that stepped) count as 0. */
void inis_observe(struct inis_histogram *h, int64_t us);

#endif
