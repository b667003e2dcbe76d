/* SPDX-License-Identifier: Apache-2.0
 *
 * encode.c - guest bytes as JSON: text where it is text, exact base64 where not, cuts between characters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/encode.h"

static const uint8_t *bytes(const char *s)
{
	return (const uint8_t *)s;
}

static json_t *stream(const char *data, size_t n)
{
	struct object o = object_new();

	encode_stream(&o, "stdout", "stdout_encoding", bytes(data), n);
	return object_done(&o);
}

static void text_stays_text_with_nul_and_controls(void **state)
{
	static const char data[] = "a\0b\x1b[0m\n\xe6\x97\xa5";
	json_t *o = stream(data, sizeof(data) - 1);
	json_t *text = json_object_get(o, "stdout");

	(void)state;
	assert_int_equal(json_string_length(text), sizeof(data) - 1);
	assert_memory_equal(json_string_value(text), data, sizeof(data) - 1);
	assert_null(json_object_get(o, "stdout_encoding"));
	json_decref(o);
}

static void O2_bytes_that_are_no_text_are_exact_base64(void **state)
{
	static const struct {
		const char *data;
		const char *base64;
	} cases[] = {
		{"valid\xff", "dmFsaWT/"}, /* a valid prefix and one bad byte at the end */
		{"\xed\xa0\x80", "7aCA"}, /* surrogate */
		{"\xc0\xaf", "wK8="}, /* overlong */
		{"\xf4\x90\x80\x80", "9JCAgA=="}, /* above U+10FFFF */
		{"\xe6\x97", "5pc="}, /* incomplete */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *o = stream(cases[i].data, strlen(cases[i].data));

		assert_string_equal(json_string_value(json_object_get(o, "stdout")), cases[i].base64);
		assert_string_equal(json_string_value(json_object_get(o, "stdout_encoding")), "base64");
		json_decref(o);
	}
}

static void nothing_is_an_empty_text(void **state)
{
	json_t *o = stream(NULL, 0);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(o, "stdout")), "");
	assert_null(json_object_get(o, "stdout_encoding"));
	json_decref(o);
	o = encode_base64(NULL, 0);
	assert_string_equal(json_string_value(o), "");
	json_decref(o);
	o = encode_lossy(NULL, 0);
	assert_string_equal(json_string_value(o), "");
	json_decref(o);
}

static void lossy_text_replaces_each_bad_piece_once(void **state)
{
	static const struct {
		const char *data;
		const char *text;
	} cases[] = {
		{"plain", "plain"},
		{"a\xff"
		 "b",
		 "a\xef\xbf\xbd"
		 "b"},
		{"\xe6\x97"
		 "x",
		 "\xef\xbf\xbdx"}, /* the beginning of a character is one piece */
		{"\xf0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* no character begins so */
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xe6\x97\xa5\xe6", "\xe6\x97\xa5\xef\xbf\xbd"},
		{"\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *text = encode_lossy(bytes(cases[i].data), strlen(cases[i].data));

		assert_string_equal(json_string_value(text), cases[i].text);
		json_decref(text);
	}
}

static void O1_a_cut_never_leaves_half_a_character(void **state)
{
	static const char text[] = "x\xe6\x97\xa5\xf0\x9f\x98\x80\xc3\xa9";
	static const size_t whole[] = {0, 1, 1, 1, 4, 4, 4, 4, 8, 8, 10};

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++)
		assert_int_equal(encode_trim_end(bytes(text), n), whole[n]);
	/* What is not a character is not touched. */
	assert_int_equal(encode_trim_end(bytes("ab\xff"), 3), 3);
	assert_int_equal(encode_trim_end(bytes("\x80\x80\x80\x80"), 4), 4);
}

static void a_cut_at_the_front_drops_at_most_three_bytes(void **state)
{
	(void)state;
	assert_int_equal(encode_trim_front(bytes("\x97\xa5x"), 3), 2);
	assert_int_equal(encode_trim_front(bytes("x"), 1), 0);
	assert_int_equal(encode_trim_front(bytes("\x80\x80\x80\x80"), 4), 3);
	assert_int_equal(encode_trim_front(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_stays_text_with_nul_and_controls),
		cmocka_unit_test(O2_bytes_that_are_no_text_are_exact_base64),
		cmocka_unit_test(nothing_is_an_empty_text),
		cmocka_unit_test(lossy_text_replaces_each_bad_piece_once),
		cmocka_unit_test(O1_a_cut_never_leaves_half_a_character),
		cmocka_unit_test(a_cut_at_the_front_drops_at_most_three_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
