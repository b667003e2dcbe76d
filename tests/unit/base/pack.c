/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.c - what was packed comes back, and a reader never leaves its message.
 */
#include "base/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void pack_all(struct inis_buf *b)
{
	inis_pack_u8(b, 0xfe);
	inis_pack_u16(b, 0xfedc);
	inis_pack_u32(b, 0xfedcba98);
	inis_pack_u64(b, 0xfedcba9876543210);
	inis_pack_bytes(b, "a\0b", 3);
	inis_pack_cstr(b, "text");
	inis_pack_cstr(b, NULL);
}

static void everything_comes_back(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_unpack u;
	struct inis_str bytes;
	char text[8];

	(void)state;
	pack_all(&b);
	assert_memory_equal(b.data, "\xfe\xdc\xfe\x98\xba\xdc\xfe", 7);
	inis_unpack_init(&u, b.data, b.len);
	assert_int_equal(inis_unpack_u8(&u), 0xfe);
	assert_int_equal(inis_unpack_u16(&u), 0xfedc);
	assert_int_equal(inis_unpack_u32(&u), 0xfedcba98);
	assert_true(inis_unpack_u64(&u) == 0xfedcba9876543210);
	bytes = inis_unpack_bytes(&u);
	assert_int_equal(bytes.len, 3);
	assert_memory_equal(bytes.s, "a\0b", 3);
	inis_unpack_cstr(&u, text, sizeof(text));
	assert_string_equal(text, "text");
	assert_true(inis_str_eq(inis_unpack_str(&u), ""));
	assert_true(inis_unpack_ok(&u));
	inis_buf_free(&b);
}

static void every_shortened_message_fails_and_stays_failed(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	pack_all(&b);
	for (size_t n = 0; n < b.len; n++) {
		uint8_t *copy = malloc(n ? n : 1); /* exact size: a sanitizer sees a read past it */
		struct inis_unpack u;
		char text[8];

		memcpy(copy, b.data, n);
		inis_unpack_init(&u, copy, n);
		inis_unpack_u8(&u);
		inis_unpack_u16(&u);
		inis_unpack_u32(&u);
		inis_unpack_u64(&u);
		inis_unpack_bytes(&u);
		inis_unpack_cstr(&u, text, sizeof(text));
		inis_unpack_str(&u);
		assert_false(inis_unpack_ok(&u));
		assert_int_equal(inis_unpack_u64(&u), 0);
		free(copy);
	}
	inis_buf_free(&b);
}

static void strings_with_nul_or_too_long_fail(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_unpack u;
	char small[4];

	(void)state;
	inis_pack_bytes(&b, "a\0b", 3);
	inis_unpack_init(&u, b.data, b.len);
	inis_unpack_str(&u);
	assert_false(inis_unpack_ok(&u));
	inis_buf_reset(&b);
	inis_pack_cstr(&b, "four");
	inis_unpack_init(&u, b.data, b.len);
	inis_unpack_cstr(&u, small, sizeof(small));
	assert_false(inis_unpack_ok(&u));
	assert_string_equal(small, "");
	inis_buf_free(&b);
}

static void leftovers_are_no_success(void **state)
{
	struct inis_unpack u;

	(void)state;
	inis_unpack_init(&u, "ab", 2);
	inis_unpack_u8(&u);
	assert_false(inis_unpack_ok(&u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(every_shortened_message_fails_and_stays_failed),
		cmocka_unit_test(strings_with_nul_or_too_long_fail),
		cmocka_unit_test(leftovers_are_no_success),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
