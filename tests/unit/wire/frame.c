/* SPDX-License-Identifier: Apache-2.0
 *
 * frame.c - frames come back whole, wait for their last byte, and refuse what is off.
 */
#include "wire/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_frame_comes_back_once_it_is_whole(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_frame frame;

	(void)state;
	inis_frame_put(&b, 7, 0x80000001, 34, INIS_FRAME_EOF, "payload", 7);
	assert_int_equal(b.len, INIS_FRAME_HEADER + 7);
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(inis_frame_parse(b.data, n, &frame, NULL), 0);
	inis_buf_puts(&b, "next");
	assert_int_equal(inis_frame_parse(b.data, b.len, &frame, NULL), INIS_FRAME_HEADER + 7);
	assert_int_equal(frame.epoch, 7);
	assert_int_equal(frame.channel, 0x80000001);
	assert_int_equal(frame.type, 34);
	assert_int_equal(frame.flags, INIS_FRAME_EOF);
	assert_int_equal(frame.length, 7);
	assert_memory_equal(frame.payload, "payload", 7);
	inis_buf_free(&b);
}

static void too_long_and_unknown_flags_end_the_connection(void **state)
{
	struct inis_error err = INIS_ERROR_INIT;
	uint8_t header[INIS_FRAME_HEADER] = {0};
	struct inis_frame frame;

	(void)state;
	header[14] = 1; /* 65536: the longest */
	assert_int_equal(inis_frame_parse(header, sizeof(header), &frame, &err), 0);
	header[12] = 1; /* 65537 */
	assert_int_equal(inis_frame_parse(header, sizeof(header), &frame, &err), -1);
	memset(header, 0, sizeof(header));
	header[11] = 0x80;
	assert_int_equal(inis_frame_parse(header, sizeof(header), &frame, &err), -1);
}

/* Puts the frames of a message together as a receiver does. */
static size_t join(const struct inis_buf *frames, uint8_t *out)
{
	size_t at = 0, total = 0;
	uint16_t flags = INIS_FRAME_MORE;

	while (flags & INIS_FRAME_MORE) {
		struct inis_frame frame;
		ptrdiff_t n = inis_frame_parse(frames->data + at, frames->len - at, &frame, NULL);

		assert_true(n > 0);
		memcpy(out + total, frame.payload, frame.length);
		total += frame.length;
		flags = frame.flags;
		at += (size_t)n;
	}
	assert_int_equal(at, frames->len);
	return total;
}

static void messages_of_any_length_are_split_and_joined(void **state)
{
	static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 131072, 200000, INIS_MESSAGE_MAX};
	uint8_t *in = malloc(INIS_MESSAGE_MAX), *out = malloc(INIS_MESSAGE_MAX);

	(void)state;
	for (size_t i = 0; i < INIS_MESSAGE_MAX; i++)
		in[i] = (uint8_t)(i * 31 + (i >> 16));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct inis_buf frames = INIS_BUF_INIT(0);

		inis_frame_put_message(&frames, 1, 2, 3, in, sizes[i]);
		assert_int_equal(join(&frames, out), sizes[i]);
		assert_memory_equal(out, in, sizes[i]);
		inis_buf_free(&frames);
	}
	free(in);
	free(out);
}

static void what_is_too_long_to_send_fails(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_frame_put(&b, 1, 2, 3, 0, NULL, INIS_FRAME_PAYLOAD_MAX + 1);
	assert_true(inis_buf_failed(&b));
	inis_buf_reset(&b);
	inis_frame_put_message(&b, 1, 2, 3, NULL, (size_t)INIS_MESSAGE_MAX + 1);
	assert_true(inis_buf_failed(&b));
	inis_buf_reset(&b);
	inis_frame_put_stream(&b, 1, 2, 3, 0, 0, NULL, INIS_STREAM_DATA_MAX + 1);
	assert_true(inis_buf_failed(&b));
	inis_buf_free(&b);
}

static void stream_frames_start_with_their_offset(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_frame frame;

	(void)state;
	inis_frame_put_stream(&b, 1, 2, 16, 0, 0x0102030405060708, "xyz", 3);
	assert_int_equal(inis_frame_parse(b.data, b.len, &frame, NULL), (ptrdiff_t)b.len);
	assert_memory_equal(frame.payload, "\x08\x07\x06\x05\x04\x03\x02\x01xyz", 11);
	inis_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_comes_back_once_it_is_whole),
		cmocka_unit_test(too_long_and_unknown_flags_end_the_connection),
		cmocka_unit_test(messages_of_any_length_are_split_and_joined),
		cmocka_unit_test(what_is_too_long_to_send_fails),
		cmocka_unit_test(stream_frames_start_with_their_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
