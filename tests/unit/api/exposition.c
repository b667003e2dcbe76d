/* SPDX-License-Identifier: Apache-2.0
 *
 * exposition.c - the text format of Prometheus, to the letter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "api/exposition.h"

static void expect(struct inis_buf *text, const char *expected)
{
	assert_string_equal(inis_buf_cstr(text), expected);
	inis_buf_reset(text);
}

static void a_family_is_help_type_and_samples(void **state)
{
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);
	struct exposition x = {.to = &text};
	const char *const labels[] = {"a", "1", "b", "2", NULL};

	(void)state;
	expo_counter(&x, "n_total", "How many.", 18446744073709551615u);
	expect(&text, "# HELP n_total How many.\n# TYPE n_total counter\nn_total 18446744073709551615\n");
	expo_gauge(&x, "g", "Now.", 0);
	expect(&text, "# HELP g Now.\n# TYPE g gauge\ng 0\n");
	expo_sample(&x, labels, 3);
	expo_seconds(&x, NULL, 61000007);
	expect(&text, "g{a=\"1\",b=\"2\"} 3\ng 61.000007\n");
}

static void what_means_something_is_escaped(void **state)
{
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);
	struct exposition x = {.to = &text};
	const char *const labels[] = {"a", "q\"b\\n\n\xc3\xa9{}=,", NULL};

	(void)state;
	expo_family(&x, "g", "gauge", "A \"b\"\\\nc");
	expo_sample(&x, labels, 1);
	expect(&text, "# HELP g A \"b\"\\\\\\nc\n# TYPE g gauge\ng{a=\"q\\\"b\\\\n\\n\xc3\xa9{}=,\"} 1\n");
}

static void buckets_add_up_to_the_count(void **state)
{
	static struct inis_histogram h;
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);
	struct exposition x = {.to = &text, .name = "h"};
	const char *const labels[] = {"a", "1", NULL};
	const char *all;

	(void)state;
	inis_observe(&h, 400);
	inis_observe(&h, 2000);
	inis_observe(&h, 4000000000LL);
	expo_histogram(&x, labels, &h);
	all = inis_buf_cstr(&text);
	assert_ptr_equal(strstr(all, "h_bucket{a=\"1\",le=\"0.0005\"} 1\n"), all);
	assert_non_null(strstr(all, "\nh_bucket{a=\"1\",le=\"0.001\"} 1\nh_bucket{a=\"1\",le=\"0.0025\"} 2\n"));
	assert_non_null(strstr(all, "\nh_bucket{a=\"1\",le=\"300\"} 2\nh_bucket{a=\"1\",le=\"+Inf\"} 3\n"
				    "h_sum{a=\"1\"} 4000.002400\nh_count{a=\"1\"} 3\n"));
	inis_buf_reset(&text);
	expo_histogram(&x, NULL, &h);
	assert_non_null(strstr(inis_buf_cstr(&text), "h_bucket{le=\"+Inf\"} 3\nh_sum 4000.002400\nh_count 3\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_family_is_help_type_and_samples),
		cmocka_unit_test(what_means_something_is_escaped),
		cmocka_unit_test(buckets_add_up_to_the_count),
	};

	return cmocka_run_group_tests_name("api_exposition", tests, NULL, NULL);
}
