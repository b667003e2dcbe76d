/* SPDX-License-Identifier: Apache-2.0
 *
 * websocket.c - frames of RFC 6455: the examples of the standard, every length, every cut, every offence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/websocket.h"

#define MAX ((size_t)1 << 20)

static const uint8_t MASK[4] = {0x37, 0xfa, 0x21, 0x3d};

/* Feeds all of it in pieces; counts what came and keeps the last. */
struct seen {
	int items;
	int error; /* a status, or 0 */
	enum ws_opcode opcode;
	struct inis_buf data;
};

static struct seen feed(bool masked, size_t max, const void *bytes, size_t n, size_t piece)
{
	struct seen seen = {.items = 0};
	struct ws_reader r;

	ws_reader_init(&r, masked, max);
	for (size_t at = 0; at < n && !seen.error;) {
		size_t left = n - at < piece ? n - at : piece, used = 0;

		while (left > 0) {
			struct ws_item item;
			int got = ws_read(&r, (const uint8_t *)bytes + at, left, &used, &item);

			assert_true(used <= left);
			at += used;
			left -= used;
			if (got < 0) {
				seen.error = (int)r.error;
				break;
			}
			if (got == 0) {
				assert_int_equal(left, 0);
				break;
			}
			seen.items++;
			seen.opcode = item.opcode;
			inis_buf_reset(&seen.data);
			inis_buf_append(&seen.data, item.data, item.n);
		}
	}
	ws_reader_free(&r);
	return seen;
}

static void expect(bool masked, const void *bytes, size_t n, int items, enum ws_opcode opcode, const char *text)
{
	for (size_t piece = 1; piece <= n; piece++) {
		struct seen seen = feed(masked, MAX, bytes, n, piece);

		assert_int_equal(seen.error, 0);
		assert_int_equal(seen.items, items);
		assert_int_equal(seen.opcode, opcode);
		assert_int_equal(seen.data.len, strlen(text));
		assert_memory_equal(seen.data.data ? (char *)seen.data.data : "", text, strlen(text));
		inis_buf_free(&seen.data);
	}
}

static void the_examples_of_the_standard_are_read(void **state)
{
	static const uint8_t unmasked[] = {0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f};
	static const uint8_t masked[] = {0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58};
	static const uint8_t pieces[] = {0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f};
	static const uint8_t ping[] = {0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f};

	(void)state;
	expect(false, unmasked, sizeof(unmasked), 1, WS_TEXT, "Hello");
	expect(true, masked, sizeof(masked), 1, WS_TEXT, "Hello");
	expect(false, pieces, sizeof(pieces), 1, WS_TEXT, "Hello");
	expect(false, ping, sizeof(ping), 1, WS_PING, "Hello");
}

static void a_ping_between_pieces_does_not_disturb_the_message(void **state)
{
	static const uint8_t bytes[] = {0x02, 0x01, 'a', 0x89, 0x01, 'p', 0x00, 0x00, 0x80, 0x01, 'b'};
	static const uint8_t after[] = {0x02, 0x01, 'a', 0x80, 0x00, 0x82, 0x00};

	(void)state;
	expect(false, bytes, sizeof(bytes), 2, WS_BINARY, "ab");
	expect(false, after, sizeof(after), 2, WS_BINARY, "");
}

static void what_is_written_is_read_whatever_its_length(void **state)
{
	static const size_t lengths[] = {0, 1, 125, 126, 127, 65535, 65536, MAX};
	uint8_t *bytes = malloc(MAX);

	(void)state;
	for (size_t i = 0; i < MAX; i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int masked = 0; masked < 2; masked++) {
			struct inis_buf frame = INIS_BUF_INIT(0);
			struct seen seen;

			ws_put(&frame, WS_BINARY, masked ? MASK : NULL, bytes, lengths[i]);
			seen = feed(masked, MAX, frame.data, frame.len, 1000);
			assert_int_equal(seen.error, 0);
			assert_int_equal(seen.items, 1);
			assert_int_equal(seen.data.len, lengths[i]);
			assert_memory_equal(seen.data.data ? seen.data.data : bytes, bytes, lengths[i]);
			inis_buf_free(&seen.data);
			inis_buf_free(&frame);
		}
	}
	free(bytes);
}

static void offences_end_the_conversation_with_the_right_status(void **state)
{
	static const struct {
		const char *what;
		bool masked;
		uint8_t bytes[12];
		size_t n;
		int status;
	} cases[] = {
		{"a client that does not mask", true, {0x82, 0x01, 'a'}, 3, WS_PROTOCOL_ERROR},
		{"a server that masks", false, {0x82, 0x81, 0, 0, 0, 0, 'a'}, 7, WS_PROTOCOL_ERROR},
		{"a reserved bit", false, {0xc2, 0x00}, 2, WS_PROTOCOL_ERROR},
		{"a reserved opcode", false, {0x83, 0x00}, 2, WS_PROTOCOL_ERROR},
		{"a reserved control opcode", false, {0x8b, 0x00}, 2, WS_PROTOCOL_ERROR},
		{"a control frame in pieces", false, {0x09, 0x00}, 2, WS_PROTOCOL_ERROR},
		{"a long control frame", false, {0x89, 126, 0, 126}, 4, WS_PROTOCOL_ERROR},
		{"a continuation of nothing", false, {0x80, 0x00}, 2, WS_PROTOCOL_ERROR},
		{"a message within a message", false, {0x02, 0x00, 0x82, 0x00}, 4, WS_PROTOCOL_ERROR},
		{"a length that is too long written", false, {0x82, 126, 0, 125}, 4, WS_PROTOCOL_ERROR},
		{"another", false, {0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 10, WS_PROTOCOL_ERROR},
		{"a negative length", false, {0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0}, 10, WS_PROTOCOL_ERROR},
		{"a byte too many", false, {0x82, 127, 0, 0, 0, 0, 0, 0x10, 0, 1}, 10, WS_TOO_BIG},
		{"more than any memory",
		 false,
		 {0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		 10,
		 WS_TOO_BIG},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t piece = 1; piece <= cases[i].n; piece++) {
			struct seen seen = feed(cases[i].masked, MAX, cases[i].bytes, cases[i].n, piece);

			if (seen.error != cases[i].status)
				fail_msg("%s: %d", cases[i].what, seen.error);
			inis_buf_free(&seen.data);
		}
	}
}

static void pieces_together_may_not_be_too_big(void **state)
{
	static const uint8_t bytes[] = {0x02, 0x02, 'a', 'b', 0x00, 0x02, 'c', 'd', 0x80, 0x01, 'e'};
	struct seen seen = feed(false, 4, bytes, sizeof(bytes), 1);

	(void)state;
	assert_int_equal(seen.items, 0);
	assert_int_equal(seen.error, WS_TOO_BIG);
	inis_buf_free(&seen.data);
}

static void a_close_frame_says_why(void **state)
{
	struct inis_buf frame = INIS_BUF_INIT(0);
	struct seen seen;

	(void)state;
	ws_put_close(&frame, WS_GOING_AWAY, NULL, "bye");
	seen = feed(false, MAX, frame.data, frame.len, 2);
	assert_int_equal(seen.opcode, WS_CLOSE);
	assert_int_equal(ws_close_status(seen.data.data, seen.data.len), WS_GOING_AWAY);
	assert_memory_equal(seen.data.data + 2, "bye", 3);
	inis_buf_free(&seen.data);
	inis_buf_free(&frame);
	assert_int_equal(ws_close_status(NULL, 0), 0);
	assert_int_equal(ws_close_status((const uint8_t *)"\x03", 1), -1);
	assert_int_equal(ws_close_status((const uint8_t *)"\x03\xed", 2), -1); /* 1005 */
	assert_int_equal(ws_close_status((const uint8_t *)"\x0b\xb8", 2), 3000);
	assert_int_equal(ws_close_status((const uint8_t *)"\xff\xff", 2), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_the_standard_are_read),
		cmocka_unit_test(a_ping_between_pieces_does_not_disturb_the_message),
		cmocka_unit_test(what_is_written_is_read_whatever_its_length),
		cmocka_unit_test(offences_end_the_conversation_with_the_right_status),
		cmocka_unit_test(pieces_together_may_not_be_too_big),
		cmocka_unit_test(a_close_frame_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
