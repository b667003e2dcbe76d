/* SPDX-License-Identifier: Apache-2.0
 *
 * url.c - how paths and queries are decoded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "http/url.h"

/* Splits and joins again with '|', or gives the error's text. */
static const char *path(const char *text)
{
	static char joined[512], room[512];
	static struct inis_error err;
	const char *segments[HTTP_SEGMENTS_MAX];
	int count = http_path_split(text, room, segments, &err);

	if (count < 0)
		return err.message;
	joined[0] = '\0';
	for (int i = 0; i < count && i < HTTP_SEGMENTS_MAX; i++) {
		strcat(joined, i ? "|" : "");
		strcat(joined, segments[i]);
	}
	return count > HTTP_SEGMENTS_MAX ? "too many" : joined;
}

static void path_segments_are_decoded(void **state)
{
	(void)state;
	assert_string_equal(path("/"), "");
	assert_string_equal(path("/v1/sessions"), "v1|sessions");
	assert_string_equal(path("/a/"), "a|");
	assert_string_equal(path("//a"), "|a");
	assert_string_equal(path("/%41%62c"), "Abc");
	assert_string_equal(path("/a+b%20c"), "a+b c");
	assert_string_equal(path("/%c3%A4"), "\xc3\xa4");
	assert_string_equal(path("/.."), "..");
}

static void a_path_that_could_be_read_in_two_ways_is_refused(void **state)
{
	static const char *const bad[] = {"/%",   "/%4",    "/%zz", "/%4x",    "/a%2fb",    "/a%2Fb",
					  "/%00", "/a%00b", "/%ff", "/%c0%af", "/%ed%a0%80"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_memory_equal(path(bad[i]), "URL: ", 5);
}

static void a_path_of_very_many_segments_is_cut_short(void **state)
{
	(void)state;
	assert_string_equal(path("/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16"), "1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16");
	assert_string_equal(path("/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17"), "too many");
}

/* Splits and joins again as name=value|…, or gives the error's text. */
static const char *query(const char *text)
{
	static char copy[2048], joined[2048];
	static struct inis_error err;
	struct http_pair pairs[HTTP_QUERY_MAX];
	int count;

	strcpy(copy, text);
	count = http_query_split(copy, pairs, &err);
	if (count < 0)
		return err.message;
	joined[0] = '\0';
	for (int i = 0; i < count; i++) {
		strcat(joined, i ? "|" : "");
		strcat(joined, pairs[i].name);
		strcat(joined, "=");
		strcat(joined, pairs[i].value);
	}
	return joined;
}

static void query_parameters_are_form_decoded(void **state)
{
	(void)state;
	assert_string_equal(query(""), "");
	assert_string_equal(query("a=1&b=2"), "a=1|b=2");
	assert_string_equal(query("a&b="), "a=|b=");
	assert_string_equal(query("&&a=1&"), "a=1");
	assert_string_equal(query("path=%2Fworkspace%2Fa+b&x=c%2Bd"), "path=/workspace/a b|x=c+d");
	assert_string_equal(query("a=b=c"), "a=b=c");
	assert_string_equal(query("=x"), "=x");
	assert_string_equal(query("a+b=1"), "a b=1");
	assert_string_equal(query("u=%f0%9f%8c%8d"), "u=\xf0\x9f\x8c\x8d");
}

static void a_query_with_bad_escapes_or_bytes_is_refused(void **state)
{
	static const char *const bad[] = {"a=%", "a=%f", "a=%gg", "%=1", "a=%00", "a=%ff", "a%00=1", "a=1&b=%c3"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_memory_equal(query(bad[i]), "URL: ", 5);
}

static void more_parameters_than_anybody_needs_are_refused(void **state)
{
	char many[1024] = "";

	(void)state;
	for (int i = 0; i < HTTP_QUERY_MAX; i++)
		strcat(many, "a=1&");
	assert_memory_equal(query(many), "a=1|", 4);
	strcat(many, "a=1");
	assert_memory_equal(query(many), "URL: more than", 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_segments_are_decoded),
		cmocka_unit_test(a_path_that_could_be_read_in_two_ways_is_refused),
		cmocka_unit_test(a_path_of_very_many_segments_is_cut_short),
		cmocka_unit_test(query_parameters_are_form_decoded),
		cmocka_unit_test(a_query_with_bad_escapes_or_bytes_is_refused),
		cmocka_unit_test(more_parameters_than_anybody_needs_are_refused),
	};

	return cmocka_run_group_tests_name("http_url", tests, NULL, NULL);
}
