/* SPDX-License-Identifier: Apache-2.0
 *
 * json.c - which bodies are taken as JSON objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "http/json.h"

static void good_bodies_are_taken(void **state)
{
	static const char *const good[] = {
		"",
		"{}",
		" \r\n\t{ } ",
		"{\"a\":[1,-2,3.5,1e3,true,false,null,\"x\",{\"b\":[]}]}",
		"{\"a\":\"\\\"[[[[[[\\\\\"}",
		"{\"a\":\"\\\\\",\"b\":\"\\u00e4\\ud83c\\udf0d\"}",
		"{\"a\\\\\":1,\"a\":2}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct inis_error err = INIS_ERROR_INIT;
		json_t *value = http_json_object(good[i], strlen(good[i]), &err);

		if (!value)
			fail_msg("%s: %s", good[i], err.message);
		json_decref(value);
	}
}

static void a_string_may_hold_nul(void **state)
{
	json_t *value = http_json_object("{\"a\":\"x\\u0000y\"}", 16, NULL);

	(void)state;
	assert_non_null(value);
	assert_int_equal(json_string_length(json_object_get(value, "a")), 3);
	json_decref(value);
}

static void assert_refused(const char *text, size_t n)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (http_json_object(text, n, &err))
		fail_msg("taken: %.*s", (int)n, text);
	assert_int_equal(err.code, INIS_BAD_REQUEST);
	assert_true(strlen(err.message) > 0);
}

static void bad_bodies_are_refused(void **state)
{
	static const char *const bad[] = {
		" ",
		"[]",
		"\"x\"",
		"1",
		"null",
		"{",
		"}",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{a:1}",
		"{'a':1}",
		"{\"a\":1}{}",
		"{\"a\":1} x",
		"{\"a\":01}",
		"{\"a\":+1}",
		"{\"a\":.5}",
		"{\"a\":NaN}",
		"{\"a\":Infinity}",
		"{\"a\":1e999}",
		"{\"a\":99999999999999999999}",
		"{\"a\":\"\t\"}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\ud800\"}",
		"{\"a\":\"\xff\"}",
		"{\"a\":\"\xc0\xaf\"}",
		"{\"a\":\"\xed\xa0\x80\"}",
		"{\"a\":\"never closed",
		"{\"a\":\"\\",
		"{\"a\\u0000b\":1}",
		"\xef\xbb\xbf{}",
		"{/* no */}",
		"{\"a\":1,\"a\":2}",
		"{\"a\":{\"b\":1,\"b\":1}}",
		"{\"a\":1,\"\\u0061\":2}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(bad[i], strlen(bad[i]));
	assert_refused("{}\0", 3);
	assert_refused("\0", 1);
}

static void an_error_does_not_quote_the_body(void **state)
{
	static const char text[] = "{\"token\": sk_secret}";
	struct inis_error err = INIS_ERROR_INIT;

	(void)state;
	assert_null(http_json_object(text, strlen(text), &err));
	assert_null(strstr(err.message, "sk_secret"));
	assert_non_null(strstr(err.message, "line 1"));
}

static void nested(char *to, int depth)
{
	strcpy(to, "{\"a\":");
	for (int i = 1; i < depth; i++)
		strcat(to, "[");
	for (int i = 1; i < depth; i++)
		strcat(to, "]");
	strcat(to, "}");
}

static void nesting_ends_at_32(void **state)
{
	char text[128];
	json_t *value;

	(void)state;
	nested(text, 32);
	value = http_json_object(text, strlen(text), NULL);
	assert_non_null(value);
	json_decref(value);
	nested(text, 33);
	assert_refused(text, strlen(text));
}

static void millions_of_tiny_values_are_refused_before_they_are_built(void **state)
{
	size_t n = 8 * 1024 * 1024;
	char *text = malloc(n);

	(void)state;
	memcpy(text, "{\"a\":[0", 7);
	for (size_t i = 7; i < n - 2; i += 3)
		memcpy(text + i, ",[]", i + 3 <= n - 2 ? 3 : 1);
	memcpy(text + n - 2, "]}", 2);
	assert_refused(text, n);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_bodies_are_taken),
		cmocka_unit_test(a_string_may_hold_nul),
		cmocka_unit_test(bad_bodies_are_refused),
		cmocka_unit_test(an_error_does_not_quote_the_body),
		cmocka_unit_test(nesting_ends_at_32),
		cmocka_unit_test(millions_of_tiny_values_are_refused_before_they_are_built),
	};

	return cmocka_run_group_tests_name("http_json", tests, NULL, NULL);
}
