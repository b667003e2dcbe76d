/* SPDX-License-Identifier: Apache-2.0
 *
 * message_test.c - messages put together from frames: in one piece, in many, of several channels, and too much.
 */
#include "agent/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint8_t bytes[INIS_FRAME_PAYLOAD_MAX];

static struct inis_frame frame(uint32_t channel, uint16_t type, uint16_t flags, const char *text)
{
	return (struct inis_frame){.channel = channel,
				   .type = type,
				   .flags = flags,
				   .length = (uint32_t)strlen(text),
				   .payload = (const uint8_t *)text};
}

static void expect_part(struct messages *m, struct inis_frame f)
{
	const struct inis_buf *whole;

	assert_int_equal(messages_add(m, &f, &whole), 0);
	assert_null(whole);
}

static void expect_whole(struct messages *m, struct inis_frame f, const char *text)
{
	const struct inis_buf *whole;

	assert_int_equal(messages_add(m, &f, &whole), 0);
	assert_non_null(whole);
	assert_int_equal(whole->len, strlen(text));
	assert_memory_equal(whole->data, text, whole->len);
	messages_done(m, &f);
}

static void messages_of_several_channels_do_not_mix(void **state)
{
	struct messages m = {0};

	(void)state;
	messages_init(&m);
	expect_part(&m, frame(1, 32, INIS_FRAME_MORE, "one "));
	expect_part(&m, frame(2, 32, INIS_FRAME_MORE, "two "));
	expect_whole(&m, frame(3, 64, 0, "whole"), "whole");
	expect_part(&m, frame(1, 32, INIS_FRAME_MORE, "and "));
	expect_whole(&m, frame(2, 32, 0, "end"), "two end");
	expect_whole(&m, frame(1, 32, 0, "end"), "one and end");
	/* The number may carry another message after that. */
	expect_whole(&m, frame(1, 32, 0, "next"), "next");
	assert_int_equal(m.count, 0);
	messages_free(&m);
}

static void another_type_in_the_middle_is_refused(void **state)
{
	struct inis_frame f = frame(1, 33, 0, "x");
	const struct inis_buf *whole;
	struct messages m = {0};

	(void)state;
	messages_init(&m);
	expect_part(&m, frame(1, 32, INIS_FRAME_MORE, "a"));
	assert_int_equal(messages_add(&m, &f, &whole), -1);
	messages_free(&m);
}

static void too_many_and_too_long_are_refused(void **state)
{
	struct inis_frame f = {
		.channel = 1, .type = 32, .flags = INIS_FRAME_MORE, .length = sizeof(bytes), .payload = bytes};
	const struct inis_buf *whole;
	struct messages m = {0};
	size_t sent = 0;

	(void)state;
	messages_init(&m);
	for (uint32_t i = 0; i < MESSAGES_MAX; i++)
		expect_part(&m, frame(100 + i, 32, INIS_FRAME_MORE, "x"));
	assert_int_equal(messages_add(&m, &f, &whole), -1);
	messages_free(&m);
	messages_init(&m);
	while (messages_add(&m, &f, &whole) == 0)
		sent += f.length;
	assert_int_equal(sent, INIS_MESSAGE_MAX);
	messages_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_several_channels_do_not_mix),
		cmocka_unit_test(another_type_in_the_middle_is_refused),
		cmocka_unit_test(too_many_and_too_long_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
