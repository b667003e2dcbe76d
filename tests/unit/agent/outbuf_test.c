/* SPDX-License-Identifier: Apache-2.0
 *
 * outbuf_test.c - the unacknowledged part of a stream: window, acknowledgements, resuming.
 */
#include "agent/outbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define WINDOW 10

static void put(struct outbuf *o, const char *text)
{
	assert_true(outbuf_append(o, text, strlen(text)));
}

static void expect_next(struct outbuf *o, size_t window, const char *text)
{
	const uint8_t *data = NULL;
	size_t n = outbuf_next(o, window, 100, &data);

	assert_int_equal(n, strlen(text));
	if (n)
		assert_memory_equal(data, text, n);
	outbuf_mark_sent(o, n);
}

static void room_is_what_the_window_leaves(void **state)
{
	struct outbuf o = {0};

	(void)state;
	assert_int_equal(outbuf_room(&o, WINDOW), 10);
	put(&o, "abcdefg");
	assert_int_equal(outbuf_room(&o, WINDOW), 3);
	expect_next(&o, WINDOW, "abcdefg");
	assert_int_equal(outbuf_room(&o, WINDOW), 3);
	assert_true(outbuf_ack(&o, 4));
	assert_int_equal(outbuf_room(&o, WINDOW), 7);
	outbuf_free(&o);
}

static void what_was_sent_is_kept_until_acknowledged(void **state)
{
	struct outbuf o = {0};

	(void)state;
	put(&o, "hello ");
	expect_next(&o, WINDOW, "hello ");
	put(&o, "you");
	expect_next(&o, WINDOW, "you");
	expect_next(&o, WINDOW, "");
	assert_true(outbuf_resume(&o, 2));
	expect_next(&o, WINDOW, "llo you");
	outbuf_free(&o);
}

static void acknowledgements_repeat_harmlessly_and_never_run_ahead(void **state)
{
	struct outbuf o = {0};

	(void)state;
	put(&o, "abcdef");
	assert_false(outbuf_ack(&o, 1));
	expect_next(&o, WINDOW, "abcdef");
	assert_true(outbuf_ack(&o, 3));
	assert_true(outbuf_ack(&o, 3));
	assert_true(outbuf_ack(&o, 1));
	assert_false(outbuf_ack(&o, 7));
	assert_int_equal(outbuf_end(&o), 6);
	outbuf_free(&o);
}

static void resuming_outside_what_is_kept_is_a_gap(void **state)
{
	struct outbuf o = {0};

	(void)state;
	put(&o, "abcdef");
	expect_next(&o, WINDOW, "abcdef");
	assert_true(outbuf_ack(&o, 4));
	assert_false(outbuf_resume(&o, 3));
	assert_false(outbuf_resume(&o, 7));
	assert_true(outbuf_resume(&o, 6));
	expect_next(&o, WINDOW, "");
	outbuf_free(&o);
}

static void a_smaller_window_after_a_reconnect_holds(void **state)
{
	struct outbuf o = {0};

	(void)state;
	put(&o, "0123456789");
	expect_next(&o, 4, "0123");
	expect_next(&o, 4, "");
	assert_true(outbuf_ack(&o, 2));
	expect_next(&o, 4, "45");
	assert_int_equal(outbuf_room(&o, 4), 0);
	outbuf_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_is_what_the_window_leaves),
		cmocka_unit_test(what_was_sent_is_kept_until_acknowledged),
		cmocka_unit_test(acknowledgements_repeat_harmlessly_and_never_run_ahead),
		cmocka_unit_test(resuming_outside_what_is_kept_is_a_gap),
		cmocka_unit_test(a_smaller_window_after_a_reconnect_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
