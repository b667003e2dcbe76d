/* SPDX-License-Identifier: Apache-2.0
 *
 * ranges.c - no two units ever share a range of ids while both live.
 */
#include "driver/container/ranges.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define BASE 0x20000000u

static void ranges_are_distinct_until_all_are_used(void **state)
{
	struct ranges r;
	struct inis_error err = INIS_ERROR_INIT;

	(void)state;
	assert_int_equal(ranges_init(&r, BASE, 4, -1, NULL), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(ranges_take(&r, NULL), BASE + i * INIS_RANGE_SIZE);
	assert_int_equal(ranges_take(&r, &err), 0);
	assert_int_equal(err.code, INIS_UNAVAILABLE);
	ranges_give(&r, BASE + INIS_RANGE_SIZE);
	assert_int_equal(ranges_take(&r, NULL), BASE + INIS_RANGE_SIZE);
	ranges_free(&r);
}

static void a_range_given_back_rests_before_it_is_used_again(void **state)
{
	struct ranges r;
	uint32_t first;

	(void)state;
	assert_int_equal(ranges_init(&r, BASE, 3, -1, NULL), 0);
	first = ranges_take(&r, NULL);
	ranges_give(&r, first);
	assert_int_not_equal(ranges_take(&r, NULL), first);
	ranges_free(&r);
}

static void only_free_ranges_of_ones_own_can_be_claimed(void **state)
{
	struct ranges r;

	(void)state;
	assert_int_equal(ranges_init(&r, BASE, 2, -1, NULL), 0);
	assert_true(ranges_claim(&r, BASE + INIS_RANGE_SIZE));
	assert_false(ranges_claim(&r, BASE + INIS_RANGE_SIZE));
	assert_false(ranges_claim(&r, BASE + 1));
	assert_false(ranges_claim(&r, BASE + 2 * INIS_RANGE_SIZE));
	assert_false(ranges_claim(&r, 0));
	assert_int_equal(ranges_take(&r, NULL), BASE);
	assert_int_equal(ranges_take(&r, NULL), 0);
	ranges_give(&r, 0);
	ranges_free(&r);
}

static void servers_of_one_machine_do_not_hand_out_the_same_range(void **state)
{
	char path[] = "/tmp/inis-ranges-test.XXXXXX";
	int a_fd = mkstemp(path);
	int b_fd = open(path, O_RDWR | O_CLOEXEC);
	struct ranges a, b;
	uint32_t one;

	(void)state;
	assert_int_equal(ranges_init(&a, BASE, 2, a_fd, NULL), 0);
	assert_int_equal(ranges_init(&b, BASE + INIS_RANGE_SIZE, 1, b_fd, NULL), 0);
	assert_int_equal(ranges_take(&a, NULL), BASE);
	one = ranges_take(&b, NULL);
	assert_int_equal(one, BASE + INIS_RANGE_SIZE);
	assert_int_equal(ranges_take(&a, NULL), 0);
	ranges_give(&b, one);
	assert_int_equal(ranges_take(&a, NULL), one);
	/* A server that dies lets go. */
	close(a_fd);
	assert_int_equal(ranges_take(&b, NULL), one);
	close(b_fd);
	unlink(path);
	ranges_free(&a);
	ranges_free(&b);
}

static void ranges_that_do_not_fit_are_refused(void **state)
{
	struct ranges r;

	(void)state;
	assert_int_equal(ranges_init(&r, 0, 1, -1, NULL), -1);
	assert_int_equal(ranges_init(&r, BASE + 1, 1, -1, NULL), -1);
	assert_int_equal(ranges_init(&r, BASE, 0, -1, NULL), -1);
	assert_int_equal(ranges_init(&r, 0xfffe0000u, 1, -1, NULL), -1);
	assert_int_equal(ranges_init(&r, BASE, 0xffffffffu, -1, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_distinct_until_all_are_used),
		cmocka_unit_test(a_range_given_back_rests_before_it_is_used_again),
		cmocka_unit_test(only_free_ranges_of_ones_own_can_be_claimed),
		cmocka_unit_test(servers_of_one_machine_do_not_hand_out_the_same_range),
		cmocka_unit_test(ranges_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests_name("driver_ranges", tests, NULL, NULL);
}
