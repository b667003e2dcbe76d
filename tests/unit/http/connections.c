/* SPDX-License-Identifier: Apache-2.0
 *
 * connections.c - keep-alive, pipelining, disconnects, limits, draining.
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

#define HELLO "GET /hello HTTP/1.1\r\n" CLIENT_KEY "\r\n"

static int start(void **state)
{
	static const struct app_options few = {.connections_max = 8};

	*state = app_start(&few);
	return 0;
}

static int stop(void **state)
{
	app_stop(*state);
	return 0;
}

static void assert_hello(int fd)
{
	struct answer a;

	client_read(fd, &a);
	assert_int_equal(a.status, 200);
	assert_string_equal(a.body, "{\"ok\":true}");
	answer_free(&a);
}

static void a_connection_serves_many_requests(void **state)
{
	struct app *app = *state;
	int fd = client_connect(app->port);

	for (int i = 0; i < 1000; i++) {
		client_send(fd, HELLO);
		assert_hello(fd);
	}
	assert_int_equal(atomic_load(&app->calls), 1000);
	close(fd);
}

static void connection_close_and_http_1_0_end_it(void **state)
{
	static const char *const texts[] = {
		"GET /hello HTTP/1.1\r\n" CLIENT_KEY "Connection: close\r\n\r\n",
		"GET /hello HTTP/1.1\r\n" CLIENT_KEY "Connection: x, Close\r\n\r\n",
		"GET /hello HTTP/1.0\r\n" CLIENT_KEY "\r\n",
		"GET /hello HTTP/1.0\r\n" CLIENT_KEY "Connection: keep-alive\r\n\r\n",
	};
	struct app *app = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int fd = client_connect(app->port);

		client_send(fd, texts[i]);
		assert_hello(fd);
		assert_true(client_sees_end(fd));
		close(fd);
	}
}

static void pipelined_requests_are_answered_in_order(void **state)
{
	struct app *app = *state;
	int fd = client_connect(app->port);
	char text[256], *all = calloc(1, 300 * sizeof(text));

	for (int i = 0; i < 300; i++) {
		if (i % 3 == 0)
			snprintf(text, sizeof(text),
				 "POST /json HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 12\r\n\r\n{\"name\":%03d}", i);
		else
			snprintf(text, sizeof(text), "GET /items/%d HTTP/1.1\r\n" CLIENT_KEY "\r\n", i);
		if (i % 3 == 0 && i < 100) /* a number must not begin with 0 */
			memcpy(strstr(text, "{\"name\":"), "{\"name\":1", 9);
		strcat(all, text);
	}
	client_send(fd, all);
	for (int i = 0; i < 300; i++) {
		struct answer a;

		client_read(fd, &a);
		assert_int_equal(a.status, 200);
		if (i % 3 != 0) {
			snprintf(text, sizeof(text), "\"name\":\"%d\"", i);
			assert_non_null(strstr(a.body, text));
		} else {
			assert_non_null(strstr(a.body, "\"name\":"));
		}
		answer_free(&a);
	}
	free(all);
	close(fd);
}

static void what_is_sent_ahead_waits_for_a_slow_answer_within_bounds(void **state)
{
	struct linger hard = {.l_onoff = 1, .l_linger = 0};
	struct app *app = *state;
	int fd = client_connect(app->port);
	struct answer a;
	size_t sent = 0;

	client_send(fd, "GET /hang HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	app_wait(atomic_load(&app->requests) == 1);
	for (int i = 0; i < 100000; i++) {
		if (send(fd, HELLO, sizeof(HELLO) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(HELLO) - 1)
			break;
		sent++;
	}
	assert_true(sent < 100000);
	usleep(100000);
	assert_int_equal(atomic_load(&app->calls), 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(fd);
	app_wait(atomic_load(&app->closes) == 1);
	fd = client_connect(app->port);
	client_send(fd, "GET /flood HTTP/1.1\r\n" CLIENT_KEY "\r\n" HELLO HELLO);
	atomic_store(&app->ended, true);
	client_read(fd, &a);
	assert_true(a.whole);
	answer_free(&a);
	assert_hello(fd);
	assert_hello(fd);
	close(fd);
}

static void a_client_that_goes_away_is_noticed_while_the_handler_works(void **state)
{
	struct app *app = *state;

	for (int i = 0; i < 3; i++) {
		struct linger hard = {.l_onoff = 1, .l_linger = 0};
		int fd = client_connect(app->port);

		client_send(fd, "GET /hang HTTP/1.1\r\n" CLIENT_KEY "\r\n");
		app_wait(atomic_load(&app->calls) == i + 1);
		assert_int_equal(atomic_load(&app->closes), i);
		if (i == 1)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		if (i == 2)
			shutdown(fd, SHUT_WR);
		else
			close(fd);
		app_wait(atomic_load(&app->closes) == i + 1);
		app_wait(atomic_load(&app->requests) == 0);
		if (i == 2)
			close(fd);
	}
}

static void more_connections_than_the_limit_wait_in_the_backlog(void **state)
{
	struct app *app = *state;
	int fds[20];

	for (int i = 0; i < 20; i++) {
		fds[i] = client_connect(app->port);
		client_send(fds[i], "GET /events?wait=1 HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	}
	app_wait(atomic_load(&app->calls) == 8);
	usleep(1500000);
	assert_int_equal(atomic_load(&app->calls), 8);
	assert_int_equal(atomic_load(&app->connections), 8);
	for (int i = 0; i < 20; i++) {
		close(fds[i]);
		app_wait(atomic_load(&app->calls) == (i < 12 ? 9 + i : 20));
	}
}

static void connections_that_do_nothing_make_room_at_the_limit(void **state)
{
	struct app *app = *state;
	int idle[8], fd;

	/* All at one time: among equals the first is the oldest. */
	for (int i = 0; i < 8; i++)
		idle[i] = client_connect(app->port);
	app_wait(atomic_load(&app->connections) == 8);
	/* A head that never ends is nothing either. */
	for (int i = 4; i < 8; i++)
		client_send(idle[i], "GET /hel");
	for (int i = 0; i < 8; i++) {
		fd = client_connect(app->port);
		client_send(fd, HELLO);
		assert_hello(fd);
		assert_true(client_sees_end(idle[i]));
		close(fd);
		app_wait(atomic_load(&app->connections) == 7);
		idle[i] = client_connect(app->port);
		app_wait(atomic_load(&app->connections) == 8);
	}
	for (int i = 0; i < 8; i++)
		close(idle[i]);
}

static void draining_closes_idle_connections_and_waits_for_running_requests(void **state)
{
	struct app *app = *state;
	int idle = client_connect(app->port), busy = client_connect(app->port), half = client_connect(app->port);
	struct answer a;

	client_send(idle, HELLO);
	assert_hello(idle);
	client_send(busy, "GET /events?wait=1 HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	client_send(half, "GET /hel");
	app_wait(atomic_load(&app->requests) == 1 && atomic_load(&app->connections) == 3);
	app_drain(app);
	assert_true(client_sees_end(idle));
	assert_true(client_sees_end(half));
	usleep(100000);
	assert_false(atomic_load(&app->drained));
	atomic_store(&app->ended, true);
	client_read(busy, &a);
	assert_int_equal(a.status, 200);
	assert_true(a.whole);
	assert_true(client_sees_end(busy));
	close(idle);
	close(busy);
	close(half);
	answer_free(&a);
	app_wait(atomic_load(&app->drained));
}

static void draining_without_connections_is_done_at_once(void **state)
{
	struct app *app = *state;

	app_drain(app);
	app_wait(atomic_load(&app->drained));
}

static void closing_with_requests_running_tells_their_handlers(void **state)
{
	struct app *app = *state;
	int fd = client_connect(app->port), up = client_connect(app->port);

	client_send(fd, "GET /hang HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	client_send(up, "PUT /stuck HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 10\r\n\r\nabc");
	app_wait(atomic_load(&app->requests) == 2);
	app_stop(app);
	assert_true(client_sees_end(fd));
	assert_true(client_sees_end(up));
	close(fd);
	close(up);
	start(state);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_connection_serves_many_requests),
		CASE(connection_close_and_http_1_0_end_it),
		CASE(pipelined_requests_are_answered_in_order),
		CASE(what_is_sent_ahead_waits_for_a_slow_answer_within_bounds),
		CASE(a_client_that_goes_away_is_noticed_while_the_handler_works),
		CASE(more_connections_than_the_limit_wait_in_the_backlog),
		CASE(connections_that_do_nothing_make_room_at_the_limit),
		CASE(draining_closes_idle_connections_and_waits_for_running_requests),
		CASE(draining_without_connections_is_done_at_once),
		CASE(closing_with_requests_running_tells_their_handlers),
	};

	return cmocka_run_group_tests_name("http_connections", tests, NULL, NULL);
}
