/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - option values are understood or refused with their text.
 */
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void durations_have_units(void **state)
{
	static const struct {
		const char *text;
		json_int_t ms;
	} good[] = {{"1", 1000}, {"2.5", 2500}, {"30s", 30000}, {"1500ms", 1500}, {"5m", 300000}, {"1h", 3600000}};
	static const char *const bad[] = {"", "s", "0", "-1", "5x", "1 s", "nan", "inf", "1e300", "0.0001"};
	struct inis_error err = INIS_ERROR_INIT;
	json_int_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(cli_option_duration(good[i].text, &ms, &err), 0);
		assert_int_equal(ms, good[i].ms);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(cli_option_duration(bad[i], &ms, &err), -1);
		assert_non_null(strstr(err.message, bad[i]));
	}
}

static void pairs_split_at_the_first_equals_sign(void **state)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *map = NULL;

	(void)state;
	assert_int_equal(cli_option_pair(&map, "A=b=c", &err), 0);
	assert_int_equal(cli_option_pair(&map, "EMPTY=", &err), 0);
	assert_int_equal(cli_option_pair(&map, "A=last", &err), 0);
	assert_string_equal(json_string_value(json_object_get(map, "A")), "last");
	assert_string_equal(json_string_value(json_object_get(map, "EMPTY")), "");
	assert_int_equal(cli_option_pair(&map, "=x", &err), -1);
	assert_int_equal(cli_option_pair(&map, "plain", &err), -1);
	assert_int_equal(cli_option_pair(&map, "X=\xff", &err), -1);
	assert_int_equal(json_object_size(map), 2);
	json_decref(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_units),
		cmocka_unit_test(pairs_split_at_the_first_equals_sign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
