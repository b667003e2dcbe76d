/* SPDX-License-Identifier: Apache-2.0
 *
 * malformed.c - what is not HTTP to the letter: one clear answer, then the end of the connection.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

struct bytes {
	const char *text;
	size_t n;
};

#define B(literal)                           \
	{                                    \
		literal, sizeof(literal) - 1 \
	}
#define KEY  "Authorization: Bearer sk_test\r\n"
#define GET  "GET /hello HTTP/1.1\r\n"
#define POST "POST /echo HTTP/1.1\r\n" CLIENT_KEY

/* Each ends where a server that is not strict would answer 200 or go on. */
static const struct bytes BAD[] = {
	B(GET KEY "\r\n"), /* no Host */
	B(GET KEY "Host: a\r\nHost: a\r\n\r\n"),
	B(GET KEY "Host: a\r\nhost: b\r\n\r\n"),
	B(GET KEY "Host: a b\r\n\r\n"),
	B(GET KEY "Host: a/b\r\n\r\n"),
	B(GET KEY "Host: user@a\r\n\r\n"),
	B(GET CLIENT_KEY "X: a\r\n folded\r\n\r\n"),
	B(GET CLIENT_KEY "X: a\r\n\tfolded\r\n\r\n"),
	B(GET " Host: a\r\n" KEY "\r\n"), /* space before the first header */
	B(GET CLIENT_KEY "X : a\r\n\r\n"),
	B(GET CLIENT_KEY "X\t: a\r\n\r\n"),
	B(GET CLIENT_KEY ": a\r\n\r\n"),
	B(GET CLIENT_KEY "no colon\r\n\r\n"),
	B(GET CLIENT_KEY "X(y): a\r\n\r\n"),
	B(GET CLIENT_KEY "X\x80: a\r\n\r\n"),
	B(GET CLIENT_KEY "X: a\0b\r\n\r\n"),
	B(GET CLIENT_KEY "X\0: a\r\n\r\n"),
	B(GET CLIENT_KEY "X: a\x01\r\n\r\n"),
	B(GET CLIENT_KEY "X: a\x7f\r\n\r\n"),
	B(GET CLIENT_KEY "X: a\rb\r\n\r\n"), /* bare CR */
	B(GET CLIENT_KEY "X: a\nY: b\r\n\r\n"), /* bare LF */
	B(GET CLIENT_KEY "X: a\r\n\n"),
	B(GET CLIENT_KEY "X: a\r\r\n\r\n"),
	B("GET /hello HTTP/1.1\n" CLIENT_KEY "\r\n"),
	B("\nGET /hello HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("GET /hello HTTP/0.9\r\n" CLIENT_KEY "\r\n"),
	B("GET /hello HTTP/2.0\r\n" CLIENT_KEY "\r\n"),
	B("GET /hello HTTP/1.2\r\n" CLIENT_KEY "\r\n"),
	B("GET /hello HTTP/1.10\r\n" CLIENT_KEY "\r\n"),
	B("GET /hello HTTP/3.1\r\n" CLIENT_KEY "\r\n"),
	B("GET /hello HTPP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("GET /hello http/1.1\r\n" CLIENT_KEY "\r\n"),
	B("GET /hello\r\n" CLIENT_KEY "\r\n"),
	B("GET  HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("GET /hel lo HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("GET\t/hello HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("GET /h\x80 HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("GET /hello#x HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("GET hello HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("GET * HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("OPTIONS * HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("CONNECT a:80 HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("get /hello HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("NONSENSE /hello HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
	B("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), /* TLS */
	B("GET ftp://a/hello HTTP/1.1\r\n" CLIENT_KEY "\r\n"),
	B(POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: identity\r\n\r\n"),
	B(POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
	B("POST /echo HTTP/1.0\r\n" CLIENT_KEY "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	B(POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"),
	B(POST "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc"),
	B(POST "Content-Length: 3, 3\r\n\r\nabc"),
	B(POST "Content-Length: -1\r\n\r\nabc"),
	B(POST "Content-Length: +3\r\n\r\nabc"),
	B(POST "Content-Length: 0x3\r\n\r\nabc"),
	B(POST "Content-Length: 3 3\r\n\r\nabc"),
	B(POST "Content-Length: \r\n\r\n"),
	B(POST "Content-Length: 99999999999999999999999\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\n 3\r\nabc\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc\r\n0\r\n\r\n"),
	B(POST "Transfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n"),
};

/* The answer is 400 with our error body, and the connection ends after it. */
static void assert_refused_and_closed(const char *text, size_t n)
{
	int fd = client_connect(app->port);
	struct answer a;

	client_send_bytes(fd, text, n);
	client_read(fd, &a);
	if (a.status != 400)
		fail_msg("status %d for: %s", a.status, text);
	assert_true(a.whole);
	assert_non_null(strstr(a.head, "\r\nConnection: close\r\n"));
	assert_non_null(strstr(a.head, "\r\nX-Inis-Request-Id: req_"));
	assert_memory_equal(a.body, "{\"error\":\"", 10);
	assert_non_null(strstr(a.body, "\"code\":\"bad_request\""));
	assert_true(client_sees_end(fd));
	answer_free(&a);
	close(fd);
}

static void malformed_http_is_400_and_the_connection_ends(void **state)
{
	int calls = atomic_load(&app->calls), told = atomic_load(&app->malformed);

	(void)state;
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		assert_refused_and_closed(BAD[i].text, BAD[i].n);
	assert_int_equal(atomic_load(&app->calls), calls);
	/* Those with a bad body had a head that was understood: they are requests. */
	assert_in_range(atomic_load(&app->malformed) - told, 20, sizeof(BAD) / sizeof(BAD[0]));
}

static void it_does_not_matter_how_the_bytes_are_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i += 5) {
		int fd = client_connect(app->port);
		struct answer a;

		for (size_t at = 0; at < BAD[i].n && client_send_bytes(fd, BAD[i].text + at, 1); at++)
			;
		client_read(fd, &a);
		assert_int_equal(a.status, 400);
		answer_free(&a);
		close(fd);
	}
}

static void empty_lines_before_a_request_are_skipped_byte_by_byte(void **state)
{
	static const char text[] = "\r\n\r\n" GET CLIENT_KEY "\r\n";
	int fd = client_connect(app->port);
	struct answer a;

	(void)state;
	for (size_t at = 0; at < sizeof(text) - 1; at++) {
		client_send_bytes(fd, text + at, 1);
		usleep(1000);
	}
	client_read(fd, &a);
	assert_int_equal(a.status, 200);
	answer_free(&a);
	close(fd);
}

static void unusual_but_correct_http_is_taken(void **state)
{
	static const char *const good[] = {
		"\r\n\r\n" GET CLIENT_KEY "\r\n",
		GET CLIENT_KEY "X:a\r\nY: \t b \t\r\nZ:\r\n\r\n",
		GET CLIENT_KEY "X: \xc3\xa4\xff\r\n\r\n",
		GET "X:\r\n" CLIENT_KEY "\r\n",
		GET "X: \t\r\n" CLIENT_KEY "\r\n",
		GET KEY "HOST: [::1]:80\r\n\r\n",
		GET KEY "Host:\r\n\r\n",
		"GET /hello HTTP/1.0\r\n" KEY "\r\n",
		GET CLIENT_KEY "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n",
		GET CLIENT_KEY "Content-Length: 0\r\n\r\n",
		GET CLIENT_KEY "Content-Length: 5\r\n\r\nhello",
		GET CLIENT_KEY "Expect: something\r\n\r\n",
		POST "\r\n",
		POST "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\n0003\r\nabc\r\n000\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nTrailer: x\r\n\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct answer a;

		client_ask_raw(app->port, good[i], &a);
		if (a.status != 200)
			fail_msg("status %d %s for: %s", a.status, a.body, good[i]);
		answer_free(&a);
	}
}

/* GET /items/x?q=… with a request target of n bytes. */
static int status_for_url(size_t n)
{
	char *text = malloc(n + 256);
	struct answer a;
	int at = sprintf(text, "GET /items/x?q=");

	memset(text + at, 'y', n - (size_t)(at - 4));
	sprintf(text + 4 + n, " HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	client_ask_raw(app->port, text, &a);
	free(text);
	answer_free(&a);
	return a.status;
}

static void urls_of_8_KiB_pass_and_longer_lines_do_not(void **state)
{
	(void)state;
	assert_int_equal(status_for_url(8192), 200);
	assert_int_equal(status_for_url(8192 + 64), 400);
	assert_int_equal(status_for_url(1024 * 1024), 400);
}

static int status_for_headers(int count, size_t size)
{
	size_t room = (size_t)count * (size + 32) + 256;
	char *text = malloc(room);
	size_t at = (size_t)sprintf(text, GET CLIENT_KEY);
	struct answer a;

	for (int i = 0; i < count; i++)
		at += (size_t)sprintf(text + at, "X-%d: %0*d\r\n", i, (int)size, 0);
	sprintf(text + at, "\r\n");
	client_ask_raw(app->port, text, &a);
	free(text);
	answer_free(&a);
	return a.status;
}

static void headers_have_limits_in_number_and_size(void **state)
{
	(void)state;
	assert_int_equal(status_for_headers(98, 10), 200); /* and Host and Authorization */
	assert_int_equal(status_for_headers(99, 10), 400);
	assert_int_equal(status_for_headers(5000, 10), 400);
	assert_int_equal(status_for_headers(60, 1000), 200);
	assert_int_equal(status_for_headers(80, 1000), 400);
	assert_int_equal(status_for_headers(1, 60000), 200);
	assert_int_equal(status_for_headers(1, 80000), 400);
	assert_int_equal(status_for_headers(1, 8000000), 400);
}

static void chunk_extensions_and_trailers_have_limits(void **state)
{
	size_t n = 64 * 1024;
	char *text = calloc(1, n + 512);
	size_t at = (size_t)sprintf(text, POST "Transfer-Encoding: chunked\r\n\r\n3;a=");

	(void)state;
	memset(text + at, 'b', n);
	sprintf(text + at + n, "\r\nabc\r\n0\r\n\r\n");
	assert_refused_and_closed(text, strlen(text));
	at = (size_t)sprintf(text, POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: ");
	memset(text + at, 'b', n);
	sprintf(text + at + n, "\r\n\r\n");
	assert_refused_and_closed(text, strlen(text));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_http_is_400_and_the_connection_ends),
		cmocka_unit_test(it_does_not_matter_how_the_bytes_are_cut),
		cmocka_unit_test(empty_lines_before_a_request_are_skipped_byte_by_byte),
		cmocka_unit_test(unusual_but_correct_http_is_taken),
		cmocka_unit_test(urls_of_8_KiB_pass_and_longer_lines_do_not),
		cmocka_unit_test(headers_have_limits_in_number_and_size),
		cmocka_unit_test(chunk_extensions_and_trailers_have_limits),
	};

	return cmocka_run_group_tests_name("http_malformed", tests, start, stop);
}
