/* SPDX-License-Identifier: Apache-2.0
 *
 * base64.c - base64 is exact in both directions and takes nothing but its canonical form.
 */
#include "base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void known_answers(void **state)
{
	static const char *const pairs[][2] = {{"", ""},
					       {"f", "Zg=="},
					       {"fo", "Zm8="},
					       {"foo", "Zm9v"},
					       {"foob", "Zm9vYg=="},
					       {"fooba", "Zm9vYmE="},
					       {"foobar", "Zm9vYmFy"}};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct inis_buf text = INIS_BUF_INIT(0), data = INIS_BUF_INIT(0);

		inis_base64_encode(&text, pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(inis_buf_cstr(&text), pairs[i][1]);
		assert_true(inis_base64_decode(&data, pairs[i][1], strlen(pairs[i][1])));
		assert_string_equal(inis_buf_cstr(&data), pairs[i][0]);
		inis_buf_free(&text);
		inis_buf_free(&data);
	}
}

static void all_bytes_survive(void **state)
{
	uint8_t bytes[771];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		struct inis_buf text = INIS_BUF_INIT(0), data = INIS_BUF_INIT(n ? n : 1);

		inis_base64_encode(&text, bytes, n);
		assert_int_equal(text.len, inis_base64_encoded_size(n));
		assert_true(inis_base64_decode(&data, (const char *)text.data, text.len));
		assert_int_equal(data.len, n);
		if (n > 0)
			assert_memory_equal(data.data, bytes, n);
		inis_buf_free(&text);
		inis_buf_free(&data);
	}
}

static void other_forms_are_refused(void **state)
{
	static const char *const bad[] = {"Zg",   "Zg=",   "Zg===",  "Z===", "====", "Zg==Zg==", "Zh==",
					  "Zm9=", "Zm 9v", "Zm9v\n", "Zm-_", "=Zg=", "Zg=a"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct inis_buf data = INIS_BUF_INIT(0);

		if (inis_base64_decode(&data, bad[i], strlen(bad[i])))
			fail_msg("took \"%s\"", bad[i]);
		inis_buf_free(&data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(all_bytes_survive),
		cmocka_unit_test(other_forms_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
