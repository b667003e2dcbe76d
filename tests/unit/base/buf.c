/* SPDX-License-Identifier: Apache-2.0
 *
 * buf.c - the buffer keeps its limit and its failure.
 */
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void appends_in_order_and_consumes_from_the_front(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_buf_puts(&b, "one ");
	inis_buf_append(&b, "two", 3);
	inis_buf_printf(&b, " %d", 3);
	assert_string_equal(inis_buf_cstr(&b), "one two 3");
	assert_int_equal(b.len, 9);
	inis_buf_consume(&b, 4);
	assert_string_equal(inis_buf_cstr(&b), "two 3");
	inis_buf_consume(&b, 100);
	assert_int_equal(b.len, 0);
	inis_buf_free(&b);
}

/* A model that moves everything each time, against pieces of all sizes in and out. */
static void what_is_left_after_consuming_is_what_came_in_later(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);
	uint8_t piece[700], model[70000];
	size_t held = 0;
	uint32_t x = 1;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		size_t in, out;

		x = x * 1103515245 + 12345;
		in = (x >> 8) % sizeof(piece);
		out = (x >> 4) % (held + 100);
		for (size_t i = 0; i < in; i++)
			piece[i] = (uint8_t)(x + i);
		if (held + in <= sizeof(model)) {
			inis_buf_append(&b, piece, in);
			memcpy(model + held, piece, in);
			held += in;
		}
		inis_buf_consume(&b, out);
		out = out < held ? out : held;
		memmove(model, model + out, held - out);
		held -= out;
		assert_int_equal(b.len, held);
		assert_memory_equal(b.data, model, held);
	}
	inis_buf_reset(&b);
	assert_int_equal(b.skip, 0);
	inis_buf_free(&b);
}

/* A queue that never runs empty does not grow for ever. */
static void consumed_room_is_used_again(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);
	uint8_t piece[100] = {0};

	(void)state;
	for (int round = 0; round < 10000; round++) {
		inis_buf_append(&b, piece, sizeof(piece));
		if (round > 0)
			inis_buf_consume(&b, sizeof(piece));
	}
	assert_int_equal(b.len, sizeof(piece));
	assert_true(b.skip + b.cap <= 1024);
	inis_buf_free(&b);
}

static void a_limit_is_exact_and_failure_sticks(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(4);

	(void)state;
	inis_buf_append(&b, "1234", 4);
	assert_false(inis_buf_failed(&b));
	inis_buf_append(&b, "5", 1);
	assert_true(inis_buf_failed(&b));
	inis_buf_consume(&b, 4);
	inis_buf_append(&b, "6", 1);
	assert_int_equal(b.len, 0);
	assert_null(inis_buf_cstr(&b));
	inis_buf_reset(&b);
	inis_buf_append(&b, "7", 1);
	assert_string_equal(inis_buf_cstr(&b), "7");
	inis_buf_free(&b);
}

static void a_size_that_overflows_is_a_failure(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_buf_append(&b, "x", 1);
	assert_null(inis_buf_reserve(&b, SIZE_MAX));
	assert_true(inis_buf_failed(&b));
	inis_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appends_in_order_and_consumes_from_the_front),
		cmocka_unit_test(what_is_left_after_consuming_is_what_came_in_later),
		cmocka_unit_test(consumed_room_is_used_again),
		cmocka_unit_test(a_limit_is_exact_and_failure_sticks),
		cmocka_unit_test(a_size_that_overflows_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
