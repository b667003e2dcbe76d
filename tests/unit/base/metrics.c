/* SPDX-License-Identifier: Apache-2.0
 *
 * metrics.c - distributions: each duration is in the one bucket it belongs to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/metrics.h"

static void bounds_rise(void **state)
{
	(void)state;
	for (int i = 1; i < INIS_BUCKETS; i++)
		assert_true(INIS_BUCKET_US[i] > INIS_BUCKET_US[i - 1]);
}

static void a_bound_belongs_to_its_own_bucket(void **state)
{
	static struct inis_histogram h;

	(void)state;
	for (int i = 0; i < INIS_BUCKETS; i++) {
		inis_observe(&h, INIS_BUCKET_US[i]);
		assert_int_equal(inis_counted(&h.buckets[i]), i == 0 ? 1 : 2);
		inis_observe(&h, INIS_BUCKET_US[i] + 1);
		assert_int_equal(inis_counted(&h.buckets[i + 1]), 1);
	}
}

static void everything_is_counted_once(void **state)
{
	static struct inis_histogram h;
	uint64_t count = 0;

	(void)state;
	inis_observe(&h, -5);
	inis_observe(&h, 0);
	inis_observe(&h, 7);
	inis_observe(&h, INT64_MAX / 4);
	for (int i = 0; i <= INIS_BUCKETS; i++)
		count += inis_counted(&h.buckets[i]);
	assert_int_equal(count, 4);
	assert_int_equal(inis_counted(&h.buckets[0]), 3);
	assert_int_equal(inis_counted(&h.buckets[INIS_BUCKETS]), 1);
	assert_int_equal(inis_counted(&h.sum_us), INT64_MAX / 4 + 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_rise),
		cmocka_unit_test(a_bound_belongs_to_its_own_bucket),
		cmocka_unit_test(everything_is_counted_once),
	};

	return cmocka_run_group_tests_name("base_metrics", tests, NULL, NULL);
}
