/* SPDX-License-Identifier: Apache-2.0
 *
 * slow.c - clients that take their time: each gets so much of it and no more.
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
	static const struct app_options impatient = {.head_timeout_ms = 400, .body_idle_timeout_ms = 600};

	(void)state;
	app = app_start(&impatient);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	app_stop(app);
	return 0;
}

static void an_idle_connection_is_closed_without_a_word(void **state)
{
	int fd = client_connect(app->port);
	struct answer a;

	(void)state;
	assert_true(client_sees_end(fd));
	close(fd);
	fd = client_connect(app->port);
	client_send(fd, "GET /hello HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	client_read(fd, &a);
	assert_int_equal(a.status, 200);
	answer_free(&a);
	assert_true(client_sees_end(fd));
	close(fd);
}

static void a_head_that_drips_is_refused_however_steadily_it_drips(void **state)
{
	int fd = client_connect(app->port);
	struct answer a;

	(void)state;
	client_send(fd, "GET /hello HTTP/1.1\r\n");
	for (int i = 0; i < 600 && client_send_bytes(fd, "X: y\r\n", 6); i++) {
		char byte;

		if (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0)
			break;
		usleep(50000);
	}
	client_read(fd, &a);
	assert_int_equal(a.status, 400);
	assert_non_null(strstr(a.body, "in time"));
	answer_free(&a);
	close(fd);
}

static void a_body_that_stops_is_refused_but_a_slow_one_is_not(void **state)
{
	int fd = client_connect(app->port), calls = atomic_load(&app->calls);
	struct answer a;

	(void)state;
	client_send(fd, "POST /echo HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 10\r\n\r\nabc");
	client_read(fd, &a);
	assert_int_equal(a.status, 400);
	assert_non_null(strstr(a.body, "body"));
	assert_int_equal(atomic_load(&app->calls), calls);
	answer_free(&a);
	close(fd);
	fd = client_connect(app->port);
	client_send(fd, "POST /echo HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 10\r\n\r\n");
	for (int i = 0; i < 10; i++) {
		usleep(100000);
		client_send(fd, "x");
	}
	client_read(fd, &a);
	assert_int_equal(a.status, 200);
	assert_string_equal(a.body, "xxxxxxxxxx");
	answer_free(&a);
	close(fd);
}

/* Drips a body until it is refused or was sent; whether it was sent. */
static bool drip(int fd, const char *path, size_t pieces, size_t piece, struct answer *a)
{
	static const char block[4096];
	char head[256];

	snprintf(head, sizeof(head), "PUT %s HTTP/1.1\r\n" CLIENT_KEY "Content-Length: %zu\r\n\r\n", path,
		 pieces * piece);
	client_send(fd, head);
	for (size_t i = 0; i < pieces; i++) {
		char byte;

		if (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0 || !client_send_bytes(fd, block, piece))
			break;
		usleep(50000);
	}
	client_read(fd, a);
	return a->status == 200;
}

static void a_body_that_drips_is_refused_unless_it_may_or_does_so_fast_enough(void **state)
{
	/* On a machine that stands still for a second the fast one still has its patience to spend. */
	static const struct app_options impatient = {.body_rate_min = 20000, .body_patience_ms = 1500};
	struct app *other = app_start(&impatient);
	int fd = client_connect(other->port);
	struct answer a;

	(void)state;
	assert_false(drip(fd, "/upload", 600, 1, &a));
	assert_int_equal(a.status, 400);
	assert_non_null(strstr(a.body, "too slowly"));
	answer_free(&a);
	close(fd);
	fd = client_connect(other->port);
	assert_true(drip(fd, "/upload", 80, 4096, &a));
	answer_free(&a);
	close(fd);
	fd = client_connect(other->port);
	assert_true(drip(fd, "/patient", 80, 1, &a));
	answer_free(&a);
	close(fd);
	app_stop(other);
}

static void a_streamed_body_that_stops_ends_the_request(void **state)
{
	int fd = client_connect(app->port), closes = atomic_load(&app->closes);
	struct answer a;

	(void)state;
	client_send(fd, "PUT /upload HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 10\r\n\r\nabc");
	client_read(fd, &a);
	assert_int_equal(a.status, 400);
	answer_free(&a);
	app_wait(atomic_load(&app->closes) == closes + 1);
	close(fd);
}

static void a_reader_that_never_reads_is_cut_off(void **state)
{
	int fd = client_connect(app->port), closes = atomic_load(&app->closes);

	(void)state;
	client_send(fd, "GET /flood HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	app_wait(atomic_load(&app->closes) == closes + 1);
	close(fd);
	fd = client_connect(app->port);
	client_send(fd, "GET /large?n=60000000 HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	app_wait(atomic_load(&app->connections) > 0);
	app_wait(atomic_load(&app->connections) == 0);
	close(fd);
}

static void a_slow_reader_gets_all(void **state)
{
	int fd = client_connect(app->port);
	static char block[500000];
	size_t got = 0;

	(void)state;
	client_send(fd, "GET /large?n=20000000 HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	while (got < 20000000) {
		ssize_t n = recv(fd, block, sizeof(block), 0);

		assert_true(n > 0);
		got += (size_t)n;
		usleep(50000);
	}
	close(fd);
}

static void a_working_handler_is_not_hurried(void **state)
{
	int fd = client_connect(app->port), closes = atomic_load(&app->closes), calls = atomic_load(&app->calls);

	(void)state;
	client_send(fd, "GET /hang HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	app_wait(atomic_load(&app->calls) == calls + 1);
	usleep(1500000);
	assert_int_equal(atomic_load(&app->closes), closes);
	assert_int_equal(atomic_load(&app->requests), 1);
	close(fd);
	app_wait(atomic_load(&app->closes) == closes + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_connection_is_closed_without_a_word),
		cmocka_unit_test(a_head_that_drips_is_refused_however_steadily_it_drips),
		cmocka_unit_test(a_body_that_stops_is_refused_but_a_slow_one_is_not),
		cmocka_unit_test(a_body_that_drips_is_refused_unless_it_may_or_does_so_fast_enough),
		cmocka_unit_test(a_streamed_body_that_stops_ends_the_request),
		cmocka_unit_test(a_reader_that_never_reads_is_cut_off),
		cmocka_unit_test(a_slow_reader_gets_all),
		cmocka_unit_test(a_working_handler_is_not_hurried),
	};

	return cmocka_run_group_tests_name("http_slow", tests, start, stop);
}
