/* SPDX-License-Identifier: Apache-2.0
 *
 * metrics.c - counters and distributions of the process.
 */
#include "base/metrics.h"

const int64_t INIS_BUCKET_US[INIS_BUCKETS] = {500,     1000,     2500,     5000,     10000,    25000,
					      50000,   100000,   250000,   500000,   1000000,  2500000,
					      5000000, 10000000, 30000000, 60000000, 300000000};

struct inis_metrics inis_metrics;

void inis_observe(struct inis_histogram *h, int64_t us)
{
	unsigned i = 0;

	if (us < 0)
		us = 0;
	while (i < INIS_BUCKETS && us > INIS_BUCKET_US[i])
		i++;
	inis_count(&h->buckets[i]);
	inis_count_n(&h->sum_us, (uint64_t)us);
}
