/* SPDX-License-Identifier: Apache-2.0
 *
 * utf8.c - which bytes are UTF-8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "http/utf8.h"

static void text_is_valid(void **state)
{
	static const char *const texts[] = {
		"",
		"plain",
		"\x7f",
		"\xc2\x80",
		"\xdf\xbf",
		"\xe0\xa0\x80",
		"\xed\x9f\xbf",
		"\xee\x80\x80",
		"\xef\xbf\xbf",
		"\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf",
		"gr\xc3\xbc\xc3\x9f \xf0\x9f\x8c\x8d",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_true(http_utf8_valid(texts[i], strlen(texts[i])));
}

static void text_is_valid_up_to_the_bad_byte(void **state)
{
	static const char *const bad[] = {
		"\x80", /* continuation alone */
		"\xc0\xaf", /* overlong '/' */
		"\xc1\xbf",
		"\xe0\x9f\xbf", /* overlong */
		"\xed\xa0\x80", /* surrogate */
		"\xf0\x8f\xbf\xbf", /* overlong */
		"\xf4\x90\x80\x80", /* above U+10FFFF */
		"\xf5\x80\x80\x80",
		"\xff",
		"\xc3", /* cut */
		"\xe2\x82",
		"\xf0\x9f\x8c",
		"\xe2\x28\xa1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[16] = "ab";

		strcat(text, bad[i]);
		assert_int_equal(http_utf8_prefix(text, strlen(text)), 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_valid),
		cmocka_unit_test(text_is_valid_up_to_the_bad_byte),
	};

	return cmocka_run_group_tests_name("http_utf8", tests, NULL, NULL);
}
