/* SPDX-License-Identifier: Apache-2.0
 *
 * websocket.c - WebSockets on a real server: handshake, messages, control frames, back-pressure, ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app.h"
#include "base/websocket.h"
#include "client.h"
#include "sockets.h"

#define GET   "GET /socket HTTP/1.1\r\n" CLIENT_KEY
#define OFFER "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
#define KEY   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static struct app *app;
static const uint8_t MASK[4] = {9, 8, 7, 6};

static int start(void **state)
{
	static const struct app_options options = {.websocket_ping_ms = 1};

	(void)state;
	app = app_start(&options);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	app_stop(app);
	return 0;
}

static int open_socket(void)
{
	int fd = client_connect(app->port);
	struct answer a;

	client_send(fd, GET OFFER KEY "\r\n");
	client_read_head(fd, &a);
	assert_int_equal(a.status, 101);
	assert_non_null(strstr(a.head, "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
	assert_non_null(strstr(a.head, "\r\nX-Inis-Request-Id: req_"));
	answer_free(&a);
	return fd;
}

static void send_frame(int fd, enum ws_opcode opcode, const void *data, size_t n)
{
	struct inis_buf frame = INIS_BUF_INIT(0);

	ws_put(&frame, opcode, MASK, data, n);
	client_send_bytes(fd, frame.data, frame.len);
	inis_buf_free(&frame);
}

/* The next item that is no ping; false at the end of the connection. */
static bool next_item(int fd, struct ws_reader *r, struct ws_item *item)
{
	uint8_t byte;
	size_t used;

	while (recv(fd, &byte, 1, 0) == 1) {
		int got = ws_read(r, &byte, 1, &used, item);

		assert_true(got >= 0);
		if (got > 0 && item->opcode != WS_PING)
			return true;
	}
	return false;
}

static void expect_item(int fd, enum ws_opcode opcode, const void *data, size_t n)
{
	struct ws_reader r;
	struct ws_item item;

	ws_reader_init(&r, false, 1 << 20);
	assert_true(next_item(fd, &r, &item));
	assert_int_equal(item.opcode, opcode);
	assert_int_equal(item.n, n);
	if (n > 0)
		assert_memory_equal(item.data, data, n);
	ws_reader_free(&r);
}

static void expect_goodbye(int fd, int status)
{
	const uint8_t payload[] = {(uint8_t)(status >> 8), (uint8_t)status};

	expect_item(fd, WS_CLOSE, payload, 2);
	assert_true(client_sees_end(fd));
	close(fd);
}

static void messages_come_back_as_they_went(void **state)
{
	uint8_t *large = calloc(1, SOCKET_MESSAGE_MAX);
	int fd = open_socket();

	(void)state;
	memset(large, 'x', SOCKET_MESSAGE_MAX);
	send_frame(fd, WS_BINARY, "hello", 5);
	expect_item(fd, WS_BINARY, "hello", 5);
	send_frame(fd, WS_BINARY, "", 0);
	expect_item(fd, WS_BINARY, "", 0);
	send_frame(fd, WS_BINARY, large, SOCKET_MESSAGE_MAX);
	expect_item(fd, WS_BINARY, large, SOCKET_MESSAGE_MAX);
	send_frame(fd, WS_BINARY, "bye", 3);
	expect_goodbye(fd, WS_NORMAL);
	free(large);
}

static void frames_sent_with_the_handshake_are_not_lost(void **state)
{
	struct inis_buf all = INIS_BUF_INIT(0);
	int fd = client_connect(app->port);
	struct answer a;

	(void)state;
	inis_buf_puts(&all, GET OFFER KEY "\r\n");
	ws_put(&all, WS_BINARY, MASK, "early", 5);
	client_send_bytes(fd, all.data, all.len);
	client_read_head(fd, &a);
	assert_int_equal(a.status, 101);
	expect_item(fd, WS_BINARY, "early", 5);
	answer_free(&a);
	inis_buf_free(&all);
	close(fd);
}

static void pings_are_answered_and_sent(void **state)
{
	struct ws_reader r;
	struct ws_item item;
	uint8_t byte;
	size_t used;
	int fd = open_socket(), got = 0;

	(void)state;
	send_frame(fd, WS_PING, "are you there", 13);
	expect_item(fd, WS_PONG, "are you there", 13);
	ws_reader_init(&r, false, 1 << 20);
	while (got == 0 && recv(fd, &byte, 1, 0) == 1)
		got = ws_read(&r, &byte, 1, &used, &item);
	assert_int_equal(got, 1);
	assert_int_equal(item.opcode, WS_PING);
	ws_reader_free(&r);
	close(fd);
}

static void a_close_is_answered_with_its_status(void **state)
{
	int closes = atomic_load(&app->closes);
	int fd = open_socket();

	(void)state;
	send_frame(fd, WS_CLOSE, "\x03\xe9", 2);
	expect_goodbye(fd, WS_GOING_AWAY);
	fd = open_socket();
	send_frame(fd, WS_CLOSE, NULL, 0);
	expect_goodbye(fd, WS_NORMAL);
	/* Or more: the socket of an earlier test may have been counted only now. */
	app_wait(atomic_load(&app->closes) >= closes + 2);
}

static void offences_close_the_socket(void **state)
{
	static const uint8_t unmasked[] = {0x82, 0x00};
	static const uint8_t too_big[] = {0x82, 0xff, 0, 0, 0, 0, 0, 1, 0x11, 0x71};
	int fd = open_socket();

	(void)state;
	send_frame(fd, WS_TEXT, "text", 4);
	expect_goodbye(fd, WS_UNSUPPORTED);
	fd = open_socket();
	client_send_bytes(fd, unmasked, sizeof(unmasked));
	expect_goodbye(fd, WS_PROTOCOL_ERROR);
	fd = open_socket();
	client_send_bytes(fd, too_big, sizeof(too_big));
	client_send_bytes(fd, MASK, 4);
	expect_goodbye(fd, WS_TOO_BIG);
	fd = open_socket();
	send_frame(fd, WS_CLOSE, "\x03", 1);
	expect_goodbye(fd, WS_PROTOCOL_ERROR);
}

static void a_client_that_vanishes_is_told_to_the_handler(void **state)
{
	int closes = atomic_load(&app->closes);

	(void)state;
	close(open_socket());
	app_wait(atomic_load(&app->closes) == closes + 1);
}

static void wrong_handshakes_are_plain_errors(void **state)
{
	static const char *const wrong[] = {
		GET "\r\n",
		GET "Upgrade: websocket\r\n" KEY "\r\n",
		GET "Connection: Upgrade\r\nUpgrade: h2c\r\n" KEY "\r\n",
		GET OFFER "\r\n",
		GET OFFER "Sec-WebSocket-Version: 13\r\n\r\n",
		GET OFFER "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n",
		GET OFFER KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
		GET OFFER "Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
		GET OFFER KEY "Content-Length: 3\r\n\r\nabc",
	};
	int calls = atomic_load(&app->calls);
	struct answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		client_ask_raw(app->port, wrong[i], &a);
		if (a.status != 400 || !a.whole || !strstr(a.body, "\"bad_request\""))
			fail_msg("%s: %d %s", wrong[i], a.status, a.body);
		answer_free(&a);
	}
	client_ask_raw(app->port, "GET /socket HTTP/1.1\r\nHost: test\r\n" OFFER KEY "\r\n", &a);
	assert_int_equal(a.status, 401);
	answer_free(&a);
	assert_int_equal(atomic_load(&app->calls), calls);
	client_ask_raw(app->port, "GET /socket?refuse=1 HTTP/1.1\r\n" CLIENT_KEY OFFER KEY "\r\n", &a);
	assert_int_equal(a.status, 404);
	assert_non_null(strstr(a.head, "\r\nContent-Length: "));
	answer_free(&a);
}

static void a_client_that_does_not_read_stops_the_sender_and_loses_nothing(void **state)
{
	size_t before = atomic_load(&app->produced), now = 0, got = 0;
	int fd = open_socket();
	char space[65536];
	ssize_t n;

	(void)state;
	send_frame(fd, WS_BINARY, "flood", 5);
	app_wait(atomic_load(&app->refused_writes) > 0);
	do {
		now = atomic_load(&app->produced);
		usleep(200000);
	} while (atomic_load(&app->produced) != now);
	assert_true(now - before < (size_t)32 << 20);
	while (got < now - before + (4 << 20) && (n = recv(fd, space, sizeof(space), 0)) > 0)
		got += (size_t)n;
	assert_true(atomic_load(&app->produced) > now);
	assert_true(atomic_load(&app->drains) > 0);
	close(fd);
}

static void a_socket_that_is_held_is_not_read(void **state)
{
	static uint8_t piece[SOCKET_MESSAGE_MAX];
	size_t before = atomic_load(&app->consumed), sent = 0;
	struct timeval patience = {.tv_usec = 500000};
	struct inis_buf frame = INIS_BUF_INIT(0);
	int fd = open_socket();

	(void)state;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	send_frame(fd, WS_BINARY, "hold", 4);
	ws_put(&frame, WS_BINARY, MASK, piece, sizeof(piece));
	while (sent < (size_t)64 << 20 && client_send_bytes(fd, frame.data, frame.len))
		sent += frame.len;
	assert_true(sent < (size_t)64 << 20);
	assert_int_equal(atomic_load(&app->consumed), before + 4);
	inis_buf_free(&frame);
	close(fd);
}

static void a_server_that_stops_says_so(void **state)
{
	static const struct app_options options;
	struct app *other = app_start(&options), *mine = app;
	int fd;

	(void)state;
	app = other;
	fd = open_socket();
	app_drain(other);
	expect_goodbye(fd, WS_GOING_AWAY);
	app_wait(atomic_load(&other->drained));
	assert_int_equal(atomic_load(&other->closes), 1);
	app_stop(other);
	app = mine;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_come_back_as_they_went),
		cmocka_unit_test(frames_sent_with_the_handshake_are_not_lost),
		cmocka_unit_test(pings_are_answered_and_sent),
		cmocka_unit_test(a_close_is_answered_with_its_status),
		cmocka_unit_test(offences_close_the_socket),
		cmocka_unit_test(a_client_that_vanishes_is_told_to_the_handler),
		cmocka_unit_test(wrong_handshakes_are_plain_errors),
		cmocka_unit_test(a_client_that_does_not_read_stops_the_sender_and_loses_nothing),
		cmocka_unit_test(a_socket_that_is_held_is_not_read),
		cmocka_unit_test(a_server_that_stops_says_so),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
