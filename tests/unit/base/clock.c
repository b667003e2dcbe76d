/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c - deadlines saturate, times are shown in UTC.
 */
#include "base/clock.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void deadlines_saturate(void **state)
{
	(void)state;
	assert_true(inis_deadline_in(INT64_MAX) == INIS_NEVER);
	assert_int_equal(inis_deadline_poll(INIS_NEVER), -1);
	assert_int_equal(inis_deadline_poll(inis_now_ms() - 1), 0);
	assert_int_equal(inis_deadline_poll(inis_now_ms() + (inis_ms)INT_MAX * 2), INT_MAX);
	assert_in_range(inis_deadline_poll(inis_deadline_in(3600000)), 1, 3600000);
}

static void the_clock_goes_forward(void **state)
{
	inis_ms before = inis_now_ms();

	(void)state;
	assert_true(inis_now_ms() >= before);
	assert_true(inis_now_us() / 1000 >= before);
}

static void rfc3339_has_milliseconds(void **state)
{
	char text[INIS_RFC3339_SIZE];

	(void)state;
	inis_rfc3339(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00.000Z");
	inis_rfc3339(951782400123, text);
	assert_string_equal(text, "2000-02-29T00:00:00.123Z");
	inis_rfc3339(253402300799999, text);
	assert_string_equal(text, "9999-12-31T23:59:59.999Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deadlines_saturate),
		cmocka_unit_test(the_clock_goes_forward),
		cmocka_unit_test(rfc3339_has_milliseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
