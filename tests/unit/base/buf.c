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
		cmocka_unit_test(a_limit_is_exact_and_failure_sticks),
		cmocka_unit_test(a_size_that_overflows_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
