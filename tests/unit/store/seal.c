/* SPDX-License-Identifier: Apache-2.0
 *
 * seal.c - what sealing promises.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "store/seal.h"

static const struct seal_key KEY = {"0123456789abcdef0123456789abcde"};
static const struct seal_key OTHER = {"0123456789abcdef0123456789abcdX"};

static void sealed(struct inis_buf *out, const char *text)
{
	assert_int_equal(seal_record(&KEY, "row", text, strlen(text), out, NULL), 0);
}

static int opens(const struct seal_key *key, const char *name, const struct inis_buf *b, const char *expected)
{
	char *text = NULL;
	size_t n = 0;
	int status = seal_open(key, name, b->data, b->len, &text, &n, NULL);

	if (status == 0 && (n != strlen(expected) || strcmp(text, expected) != 0))
		status = -2;
	seal_free_text(text, n);
	return status;
}

static void what_was_sealed_opens_again(void **state)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0), empty = INIS_BUF_INIT(0);

	(void)state;
	sealed(&b, "hello");
	assert_int_equal(opens(&KEY, "row", &b, "hello"), 0);
	sealed(&empty, "");
	assert_int_equal(opens(&KEY, "row", &empty, ""), 0);
}

static void another_key_or_another_row_does_not_open_it(void **state)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	sealed(&b, "hello");
	assert_int_equal(opens(&OTHER, "row", &b, "hello"), -1);
	assert_int_equal(opens(&KEY, "other row", &b, "hello"), -1);
}

static void any_changed_or_missing_byte_is_noticed(void **state)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	sealed(&b, "hello");
	for (size_t i = 0; i < b.len; i++) {
		struct inis_buf shorter = b;

		b.data[i] ^= 1;
		assert_int_equal(opens(&KEY, "row", &b, "hello"), -1);
		b.data[i] ^= 1;
		shorter.len = i;
		assert_int_equal(opens(&KEY, "row", &shorter, "hello"), -1);
	}
	assert_int_equal(opens(&KEY, "row", &b, "hello"), 0);
}

static void the_same_text_never_looks_the_same_twice(void **state)
{
	cleanup_buf struct inis_buf a = INIS_BUF_INIT(0), b = INIS_BUF_INIT(0);

	(void)state;
	sealed(&a, "a text that is long enough to compare");
	sealed(&b, "a text that is long enough to compare");
	assert_int_equal(a.len, b.len);
	for (size_t i = 1; i + 8 <= a.len; i++)
		assert_memory_not_equal(a.data + i, b.data + i, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_sealed_opens_again),
		cmocka_unit_test(another_key_or_another_row_does_not_open_it),
		cmocka_unit_test(any_changed_or_missing_byte_is_noticed),
		cmocka_unit_test(the_same_text_never_looks_the_same_twice),
	};

	return cmocka_run_group_tests_name("store_seal", tests, NULL, NULL);
}
