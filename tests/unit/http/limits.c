/* SPDX-License-Identifier: Apache-2.0
 *
 * limits.c - how much one key may ask: the bucket alone, and on a server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "client.h"
#include "http/limits.h"

static struct http_limits limits_of(uint32_t rate, uint32_t burst)
{
	const struct http_config config = {.rate = rate, .burst = burst, .key_count = 2};
	struct http_limits l;

	assert_int_equal(http_limits_init(&l, &config), 0);
	return l;
}

static int take(struct http_limits *l, size_t key, int64_t now_us, int times)
{
	int taken = 0;

	for (int i = 0; i < times; i++)
		taken += http_limits_take(l, key, now_us);
	return taken;
}

static void a_burst_is_had_at_once_and_then_the_rate(void **state)
{
	struct http_limits l = limits_of(10, 5);
	int64_t now = 1000000000;

	(void)state;
	assert_int_equal(take(&l, 0, now, 100), 5);
	assert_int_equal(take(&l, 0, now + 99999, 100), 0);
	assert_int_equal(take(&l, 0, now + 100000, 100), 1);
	assert_int_equal(take(&l, 0, now + 400000, 100), 3);
	/* Rest saves up no more than a burst. */
	assert_int_equal(take(&l, 0, now + 3600000000LL, 100), 5);
	http_limits_free(&l);
}

static void over_time_exactly_the_rate_is_given(void **state)
{
	struct http_limits l = limits_of(7, 1);
	int taken = 0;

	(void)state;
	for (int64_t now = 0; now < 60 * 1000000LL; now += 1000)
		taken += http_limits_take(&l, 0, now);
	assert_in_range(taken, 60 * 7 - 5, 60 * 7 + 1);
	http_limits_free(&l);
}

static void keys_do_not_share(void **state)
{
	struct http_limits l = limits_of(1, 3);

	(void)state;
	assert_int_equal(take(&l, 0, 5000000, 10), 3);
	assert_int_equal(take(&l, 1, 5000000, 10), 3);
	http_limits_free(&l);
}

static int ask(int port, const char *method, const char *path, bool *retry_after)
{
	char head[256];
	struct answer a;
	int fd = client_connect(port), status;

	snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\n" CLIENT_KEY "\r\n", method, path);
	client_send(fd, head);
	client_read(fd, &a);
	status = a.status;
	if (retry_after)
		*retry_after = strstr(a.head, "Retry-After: 1\r\n") != NULL;
	answer_free(&a);
	close(fd);
	return status;
}

static void over_the_rate_is_429_but_what_ends_something_passes(void **state)
{
	static const struct app_options slow = {.rate = 1, .burst = 3};
	struct app *app = app_start(&slow);
	bool retry_after = false;
	int passed = 0;

	(void)state;
	/* However slow the machine is, one second gives one more at most. */
	while (ask(app->port, "GET", "/hello", &retry_after) == 200)
		assert_true(++passed < 1000);
	assert_true(passed >= 3);
	assert_true(retry_after);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(ask(app->port, "DELETE", "/items/x", NULL), 204);
		assert_int_equal(ask(app->port, "GET", "/open", NULL), 200);
		assert_int_equal(ask(app->port, "GET", "/unlimited", NULL), 200);
	}
	while (ask(app->port, "GET", "/hello", NULL) != 200)
		usleep(100000);
	app_stop(app);
}

static void over_the_requests_at_once_is_429_until_one_ends(void **state)
{
	static const struct app_options few = {.requests_max = 4};
	struct app *app = app_start(&few);
	bool retry_after = false;
	int busy[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		busy[i] = client_connect(app->port);
		client_send(busy[i], "GET /events?wait=1 HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	}
	app_wait(atomic_load(&app->requests) == 4);
	assert_int_equal(ask(app->port, "GET", "/hello", &retry_after), 429);
	assert_true(retry_after);
	assert_int_equal(ask(app->port, "DELETE", "/items/x", NULL), 204);
	assert_int_equal(ask(app->port, "GET", "/open", NULL), 200);
	close(busy[0]);
	app_wait(atomic_load(&app->requests) == 3);
	assert_int_equal(ask(app->port, "GET", "/hello", NULL), 200);
	for (int i = 1; i < 4; i++)
		close(busy[i]);
	app_stop(app);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_is_had_at_once_and_then_the_rate),
		cmocka_unit_test(over_time_exactly_the_rate_is_given),
		cmocka_unit_test(keys_do_not_share),
		cmocka_unit_test(over_the_rate_is_429_but_what_ends_something_passes),
		cmocka_unit_test(over_the_requests_at_once_is_429_until_one_ends),
	};

	return cmocka_run_group_tests_name("http_limits", tests, NULL, NULL);
}
