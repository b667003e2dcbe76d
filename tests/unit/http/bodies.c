/* SPDX-License-Identifier: Apache-2.0
 *
 * bodies.c - request bodies: gathered, streamed, too large, refused.
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
#include "client.h"

static struct app *app;

static int start(void **state)
{
	static const struct app_options defaults;

	(void)state;
	app = app_start(&defaults);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	app_stop(app);
	return 0;
}

static void a_json_body_is_read_whatever_its_content_type(void **state)
{
	struct answer a;

	(void)state;
	client_ask(app->port, "POST /json HTTP/1.1", "{\"a\": [1, \"\xc3\xa4\\u0001\"]}", &a);
	assert_string_equal(a.body, "{\"a\":[1,\"\xc3\xa4\\u0001\"]}");
	answer_free(&a);
	client_ask(app->port, "POST /json HTTP/1.1\r\nContent-Type: text/plain", "{\"a\":1}", &a);
	assert_string_equal(a.body, "{\"a\":1}");
	answer_free(&a);
}

static void an_empty_body_is_an_empty_object(void **state)
{
	struct answer a;

	(void)state;
	client_ask(app->port, "POST /json HTTP/1.1", NULL, &a);
	assert_string_equal(a.body, "{}");
	answer_free(&a);
	client_ask(app->port, "POST /json HTTP/1.1", "", &a);
	assert_string_equal(a.body, "{}");
	answer_free(&a);
}

static void a_bad_json_body_is_a_bad_request_and_the_connection_goes_on(void **state)
{
	int fd = client_connect(app->port);
	struct answer a;

	(void)state;
	for (int i = 0; i < 3; i++) {
		client_send(fd, "POST /json HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 9\r\n\r\n{\"a\": 01}");
		client_read(fd, &a);
		assert_int_equal(a.status, 400);
		assert_non_null(strstr(a.body, "\"code\":\"bad_request\""));
		assert_null(strcasestr(a.head, "Connection: close"));
		answer_free(&a);
	}
	close(fd);
}

static char *pattern(size_t n)
{
	char *data = malloc(n);

	for (size_t i = 0; i < n; i++)
		data[i] = (char)(i * 7 + i / 251);
	return data;
}

static void send_chunked(int fd, const char *data, size_t n, size_t chunk)
{
	char line[32];

	for (size_t at = 0; at < n; at += chunk) {
		size_t len = n - at < chunk ? n - at : chunk;

		snprintf(line, sizeof(line), "%zx\r\n", len);
		client_send(fd, line);
		client_send_bytes(fd, data + at, len);
		client_send(fd, "\r\n");
	}
	client_send(fd, "0\r\n\r\n");
}

static void bytes_come_back_as_they_were_sent_chunked_or_not(void **state)
{
	size_t n = 700001;
	char *data = pattern(n), head[256];
	struct answer a;
	int fd = client_connect(app->port);

	(void)state;
	snprintf(head, sizeof(head), "POST /echo HTTP/1.1\r\n" CLIENT_KEY "Content-Length: %zu\r\n\r\n", n);
	client_send(fd, head);
	client_send_bytes(fd, data, n);
	client_read(fd, &a);
	assert_int_equal(a.body_len, n);
	assert_memory_equal(a.body, data, n);
	answer_free(&a);
	client_send(fd, "POST /echo HTTP/1.1\r\n" CLIENT_KEY "Transfer-Encoding: chunked\r\n\r\n");
	send_chunked(fd, data, n, 4099);
	client_read(fd, &a);
	assert_int_equal(a.body_len, n);
	assert_memory_equal(a.body, data, n);
	answer_free(&a);
	close(fd);
	free(data);
}

static void assert_too_large(int fd)
{
	struct answer a;

	client_read(fd, &a);
	assert_int_equal(a.status, 400);
	assert_non_null(strstr(a.body, "\"code\":\"payload_too_large\""));
	assert_true(client_sees_end(fd));
	answer_free(&a);
	close(fd);
}

static void an_announced_body_over_the_limit_is_refused_and_the_sender_sees_why(void **state)
{
	size_t n = 8 * 1024 * 1024;
	char *data = calloc(1, n);
	int fd = client_connect(app->port);

	(void)state;
	client_send(fd, "POST /echo HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 8388608\r\n\r\n");
	assert_true(client_send_bytes(fd, data, n)); /* all of it, before it looks at the answer */
	assert_too_large(fd);
	free(data);
}

static void a_chunked_body_over_the_limit_is_refused_and_the_sender_sees_why(void **state)
{
	size_t n = 8 * 1024 * 1024;
	char *data = calloc(1, n);
	int fd = client_connect(app->port);

	(void)state;
	client_send(fd, "POST /echo HTTP/1.1\r\n" CLIENT_KEY "Transfer-Encoding: chunked\r\n\r\n");
	send_chunked(fd, data, n, 65536);
	assert_too_large(fd);
	free(data);
}

static void a_body_of_exactly_the_limit_passes(void **state)
{
	size_t n = 1024 * 1024;
	char *data = pattern(n);
	int fd = client_connect(app->port);
	struct answer a;

	(void)state;
	client_send(fd, "POST /echo HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 1048576\r\n\r\n");
	client_send_bytes(fd, data, n);
	client_read(fd, &a);
	assert_int_equal(a.status, 200);
	assert_int_equal(a.body_len, n);
	answer_free(&a);
	free(data);
	fd = (close(fd), client_connect(app->port));
	client_send(fd, "POST /echo HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 1048577\r\n\r\n");
	assert_too_large(fd);
}

static void expect_100_continue_is_answered_before_the_body(void **state)
{
	static const char *const paths[] = {"POST /echo", "PUT /upload"};
	struct answer a;

	(void)state;
	for (int i = 0; i < 2; i++) {
		int fd = client_connect(app->port);

		client_send(fd, paths[i]);
		client_send(fd, " HTTP/1.1\r\n" CLIENT_KEY "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n");
		client_read_head(fd, &a);
		assert_int_equal(a.status, 100);
		answer_free(&a);
		client_send(fd, "abc");
		client_read(fd, &a);
		assert_int_equal(a.status, 200);
		answer_free(&a);
		close(fd);
	}
}

static void expect_100_continue_of_a_refused_request_gets_the_refusal(void **state)
{
	struct answer a;

	(void)state;
	client_ask_raw(app->port,
		       "POST /echo HTTP/1.1\r\n" CLIENT_KEY "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n",
		       &a);
	assert_int_equal(a.status, 400);
	answer_free(&a);
	client_ask_raw(
		app->port,
		"PUT /refused HTTP/1.1\r\n" CLIENT_KEY "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", &a);
	assert_int_equal(a.status, 404);
	answer_free(&a);
}

/* ---- streamed ---- */

static unsigned sum_of(const char *data, size_t n)
{
	unsigned sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + (unsigned char)data[i];
	return sum;
}

static void upload(const char *path, size_t n, size_t chunk)
{
	char *data = pattern(n), text[256];
	int fd = client_connect(app->port);
	struct answer a;

	snprintf(text, sizeof(text), "PUT %s HTTP/1.1\r\n" CLIENT_KEY, path);
	client_send(fd, text);
	if (chunk) {
		client_send(fd, "Transfer-Encoding: chunked\r\n\r\n");
		send_chunked(fd, data, n, chunk);
	} else {
		snprintf(text, sizeof(text), "Content-Length: %zu\r\n\r\n", n);
		client_send(fd, text);
		client_send_bytes(fd, data, n);
	}
	client_read(fd, &a);
	snprintf(text, sizeof(text), "{\"bytes\":%zu,\"sum\":%u}", n, sum_of(data, n));
	assert_string_equal(a.body, text);
	answer_free(&a);
	/* The connection is good for another request. */
	client_send(fd, "GET /hello HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	client_read(fd, &a);
	assert_int_equal(a.status, 200);
	answer_free(&a);
	close(fd);
	free(data);
}

static void a_streamed_upload_arrives_whole_and_in_order(void **state)
{
	(void)state;
	upload("/upload", 0, 0);
	upload("/upload", 1, 0);
	upload("/upload", 5000000, 0);
	upload("/upload", 0, 1000);
	upload("/upload", 5000000, 65536);
	upload("/upload", 30000, 1);
}

static void a_streamed_upload_survives_a_pause_after_every_piece(void **state)
{
	(void)state;
	upload("/slow-upload", 5000000, 0);
	upload("/slow-upload", 2000000, 30000);
	upload("/slow-upload", 3000, 1);
}

static void a_paused_upload_is_not_read_on(void **state)
{
	int fd = client_connect(app->port), closes = atomic_load(&app->closes);
	struct linger hard = {.l_onoff = 1, .l_linger = 0};
	size_t before = atomic_load(&app->consumed), taken = 0;
	static char block[65536];

	(void)state;
	client_send(fd, "PUT /stuck HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 1000000000\r\n\r\n");
	for (;;) {
		ssize_t n = send(fd, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0) {
			usleep(100000);
			n = send(fd, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL);
		}
		if (n < 0)
			break;
		taken += (size_t)n;
		assert_true(taken < 100000000);
	}
	assert_true(atomic_load(&app->consumed) - before <= 65536);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(fd);
	app_wait(atomic_load(&app->closes) == closes + 1);
}

static void a_client_that_leaves_a_paused_upload_is_noticed(void **state)
{
	int fd = client_connect(app->port), closes = atomic_load(&app->closes);
	static char block[150000]; /* more than is read ahead, less than what would keep its end from arriving */
	size_t before = atomic_load(&app->consumed);

	(void)state;
	client_send(fd, "PUT /stuck HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 1000000000\r\n\r\n");
	send(fd, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL);
	app_wait(atomic_load(&app->consumed) > before);
	close(fd);
	app_wait(atomic_load(&app->closes) == closes + 1);
}

static void a_client_that_leaves_in_the_middle_of_a_body_is_noticed(void **state)
{
	int fd = client_connect(app->port), closes = atomic_load(&app->closes), calls = atomic_load(&app->calls);

	(void)state;
	client_send(fd, "PUT /upload HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 100\r\n\r\nabc");
	app_wait(atomic_load(&app->calls) == calls + 1);
	close(fd);
	app_wait(atomic_load(&app->closes) == closes + 1);
	/* A gathered body that never gets whole never reaches its handler. */
	fd = client_connect(app->port);
	client_send(fd, "POST /echo HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 100\r\n\r\nabc");
	app_wait(atomic_load(&app->requests) == 1);
	close(fd);
	app_wait(atomic_load(&app->connections) == 0);
	assert_int_equal(atomic_load(&app->calls), calls + 1);
}

static void bad_chunks_end_a_streamed_upload_with_400(void **state)
{
	int closes = atomic_load(&app->closes);
	struct answer a;

	(void)state;
	client_ask_raw(app->port,
		       "PUT /upload HTTP/1.1\r\n" CLIENT_KEY "Transfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n", &a);
	assert_int_equal(a.status, 400);
	answer_free(&a);
	app_wait(atomic_load(&app->closes) == closes + 1);
}

static void an_upload_refused_early_gets_its_answer(const char *path, int status)
{
	size_t n = 8 * 1024 * 1024;
	char *data = calloc(1, n), text[256];
	int fd = client_connect(app->port);
	struct answer a;

	snprintf(text, sizeof(text), "PUT %s HTTP/1.1\r\n" CLIENT_KEY "Content-Length: %zu\r\n\r\n", path, n);
	client_send(fd, text);
	assert_true(client_send_bytes(fd, data, n));
	client_read(fd, &a);
	assert_int_equal(a.status, status);
	assert_true(a.whole);
	assert_non_null(strstr(a.head, "\r\nConnection: close\r\n"));
	assert_true(client_sees_end(fd));
	answer_free(&a);
	close(fd);
	free(data);
}

static void a_handler_may_refuse_a_streamed_body_before_or_in_it(void **state)
{
	(void)state;
	an_upload_refused_early_gets_its_answer("/refused", 404);
	an_upload_refused_early_gets_its_answer("/half", 409);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_json_body_is_read_whatever_its_content_type),
		cmocka_unit_test(an_empty_body_is_an_empty_object),
		cmocka_unit_test(a_bad_json_body_is_a_bad_request_and_the_connection_goes_on),
		cmocka_unit_test(bytes_come_back_as_they_were_sent_chunked_or_not),
		cmocka_unit_test(an_announced_body_over_the_limit_is_refused_and_the_sender_sees_why),
		cmocka_unit_test(a_chunked_body_over_the_limit_is_refused_and_the_sender_sees_why),
		cmocka_unit_test(a_body_of_exactly_the_limit_passes),
		cmocka_unit_test(expect_100_continue_is_answered_before_the_body),
		cmocka_unit_test(expect_100_continue_of_a_refused_request_gets_the_refusal),
		cmocka_unit_test(a_streamed_upload_arrives_whole_and_in_order),
		cmocka_unit_test(a_streamed_upload_survives_a_pause_after_every_piece),
		cmocka_unit_test(a_paused_upload_is_not_read_on),
		cmocka_unit_test(a_client_that_leaves_a_paused_upload_is_noticed),
		cmocka_unit_test(a_client_that_leaves_in_the_middle_of_a_body_is_noticed),
		cmocka_unit_test(bad_chunks_end_a_streamed_upload_with_400),
		cmocka_unit_test(a_handler_may_refuse_a_streamed_body_before_or_in_it),
	};

	return cmocka_run_group_tests_name("http_bodies", tests, start, stop);
}
