/* SPDX-License-Identifier: Apache-2.0
 *
 * streams.c - answers in pieces: framing, events, back-pressure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

static void pieces_arrive_as_one_body(void **state)
{
	struct answer a;

	(void)state;
	client_ask(app->port, "GET /pieces HTTP/1.1", NULL, &a);
	assert_non_null(strstr(a.head, "\r\nTransfer-Encoding: chunked\r\n"));
	assert_non_null(strstr(a.head, "\r\nX-Note: a??b\r\n"));
	assert_string_equal(a.body, "onetwothree");
	assert_true(a.whole);
	answer_free(&a);
	client_ask(app->port, "GET /pieces?length=11 HTTP/1.1", NULL, &a);
	assert_non_null(strstr(a.head, "\r\nContent-Length: 11\r\n"));
	assert_string_equal(a.body, "onetwothree");
	assert_true(a.whole);
	answer_free(&a);
}

static void an_answer_that_is_not_whole_looks_like_it(void **state)
{
	static const char *const cut[] = {"/pieces?cut=1", "/pieces?length=12&cut=1", "/pieces?length=12",
					  "/pieces?length=10", "/events?late=1"};

	(void)state;
	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		int fd = client_connect(app->port);
		struct answer a;

		client_send(fd, "GET ");
		client_send(fd, cut[i]);
		client_send(fd, " HTTP/1.1\r\n" CLIENT_KEY "\r\n");
		client_read(fd, &a);
		assert_int_equal(a.status, 200);
		assert_false(a.whole);
		assert_true(client_sees_end(fd));
		answer_free(&a);
		close(fd);
	}
}

/* Reads until the connection ends; -1 when it ends with an error. */
static ssize_t read_to_end(int fd, char *to, size_t size)
{
	size_t n = 0;
	ssize_t got;

	while ((got = recv(fd, to + n, size - n - 1, 0)) > 0)
		n += (size_t)got;
	to[n] = '\0';
	return got < 0 ? -1 : (ssize_t)n;
}

static void http_1_0_gets_the_body_until_the_end_of_the_connection(void **state)
{
	char text[1024];
	int fd = client_connect(app->port);

	(void)state;
	client_send(fd, "GET /pieces HTTP/1.0\r\n" CLIENT_KEY "\r\n");
	assert_true(read_to_end(fd, text, sizeof(text)) > 0);
	assert_null(strstr(text, "chunked"));
	assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\nonetwothree");
	close(fd);
	fd = client_connect(app->port);
	client_send(fd, "GET /pieces?cut=1 HTTP/1.0\r\n" CLIENT_KEY "\r\n");
	assert_int_equal(read_to_end(fd, text, sizeof(text)), -1);
	close(fd);
}

static void events_are_framed_line_by_line(void **state)
{
	struct answer a;

	(void)state;
	client_ask(app->port, "GET /events HTTP/1.1", NULL, &a);
	assert_non_null(strstr(a.head, "\r\nContent-Type: text/event-stream\r\n"));
	assert_string_equal(a.body, "event: stdout\ndata: aGkK\n\n"
				    "event: stderr\nid: 3,4\ndata: b29wcw==\n\n"
				    "event: exit\ndata: {\"exit_code\":0}\n\n"
				    "event: eof\ndata: \n\n");
	assert_true(a.whole);
	answer_free(&a);
}

static void O6_head_and_first_events_of_a_stream_come_at_once_and_a_silent_one_shows_life(void **state)
{
	int fd = client_connect(app->port);
	char text[1024] = "";
	struct answer a;
	size_t n = 0;

	(void)state;
	client_send(fd, "GET /events?wait=1 HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	client_read_head(fd, &a);
	assert_int_equal(a.status, 200);
	answer_free(&a);
	while (!strstr(text, ": ping\n\n") && n < sizeof(text) - 1) {
		ssize_t got = recv(fd, text + n, sizeof(text) - 1 - n, 0); /* patient: 60 s */

		assert_true(got > 0);
		n += (size_t)got;
		text[n] = '\0';
	}
	assert_non_null(strstr(text, "event: stdout\ndata: aGkK\n\n"));
	assert_true(strstr(text, ": ping\n\n") > strstr(text, "b29wcw=="));
	close(fd);
}

static long memory_in_use(void)
{
	long pages = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld %ld", &pages, &resident), 2);
	fclose(f);
	return resident * sysconf(_SC_PAGESIZE);
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec + (double)u.ru_utime.tv_usec / 1e6 +
	       (double)u.ru_stime.tv_usec / 1e6;
}

static void O9_a_reader_that_stops_costs_neither_memory_nor_time_and_may_go_on(void **state)
{
	int fd = client_connect(app->port), refused;
	long before = memory_in_use();
	char *sink = malloc(1024 * 1024);
	size_t produced, got = 0;
	double cpu;

	(void)state;
	client_send(fd, "GET /flood HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	app_wait(atomic_load(&app->refused_writes) > 0);
	do {
		produced = atomic_load(&app->produced);
		usleep(300000);
	} while (atomic_load(&app->produced) != produced);
	refused = atomic_load(&app->refused_writes);
	cpu = cpu_seconds();
	usleep(1000000);
	assert_int_equal(atomic_load(&app->produced), produced);
	assert_int_equal(atomic_load(&app->refused_writes), refused);
	assert_true(cpu_seconds() - cpu < 0.5);
	assert_true(memory_in_use() - before < 16L * 1024 * 1024);
	/* Others are served meanwhile. */
	for (int i = 0; i < 20; i++) {
		struct answer a;

		client_ask(app->port, "GET /hello HTTP/1.1", NULL, &a);
		assert_int_equal(a.status, 200);
		answer_free(&a);
	}
	/* It goes on where it was. */
	while (got < produced + 10000000) {
		ssize_t n = recv(fd, sink, 1024 * 1024, 0);

		assert_true(n > 0);
		got += (size_t)n;
	}
	assert_true(atomic_load(&app->produced) > produced);
	atomic_store(&app->ended, true);
	while (recv(fd, sink, 1024 * 1024, 0) > 0 && !strstr(sink, "\r\n0\r\n\r\n"))
		shutdown(fd, SHUT_WR);
	atomic_store(&app->ended, false);
	close(fd);
	free(sink);
	app_wait(atomic_load(&app->connections) == 0);
}

static void X16_200_streams_cut_at_random_places_leave_nothing_behind(void **state)
{
	int closes = atomic_load(&app->closes), calls = atomic_load(&app->calls);
	int live = 0;
	struct answer a;

	(void)state;
	srand(1);
	for (int i = 0; i < 200; i++) {
		static const char text[] = "GET /events?wait=1 HTTP/1.1\r\n" CLIENT_KEY "\r\n";
		struct linger hard = {.l_onoff = i % 2, .l_linger = 0};
		size_t n = (size_t)rand() % (sizeof(text) + 60);
		int fd = client_connect(app->port);

		client_send_bytes(fd, text, n < sizeof(text) - 1 ? n : sizeof(text) - 1);
		for (size_t k = sizeof(text); k < n; k++) {
			char byte;

			assert_int_equal(recv(fd, &byte, 1, 0), 1);
		}
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		close(fd);
	}
	app_wait(atomic_load(&app->connections) == 0);
	assert_int_equal(atomic_load(&app->requests), 0);
	live = atomic_load(&app->calls) - calls;
	assert_true(live > 50);
	app_wait(atomic_load(&app->closes) - closes == live);
	client_ask(app->port, "GET /hello HTTP/1.1", NULL, &a);
	assert_int_equal(a.status, 200);
	answer_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_arrive_as_one_body),
		cmocka_unit_test(an_answer_that_is_not_whole_looks_like_it),
		cmocka_unit_test(http_1_0_gets_the_body_until_the_end_of_the_connection),
		cmocka_unit_test(events_are_framed_line_by_line),
		cmocka_unit_test(O6_head_and_first_events_of_a_stream_come_at_once_and_a_silent_one_shows_life),
		cmocka_unit_test(O9_a_reader_that_stops_costs_neither_memory_nor_time_and_may_go_on),
		cmocka_unit_test(X16_200_streams_cut_at_random_places_leave_nothing_behind),
	};

	return cmocka_run_group_tests_name("http_streams", tests, start, stop);
}
