/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - when memory runs out, one request fails and the server lives on.
 *
 * The linker sends the library's allocations through here, and the n-th one on the
 * server's thread fails, for every n that a request gets to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "client.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *p, size_t n);

static pthread_t tester;
static atomic_int until_failure; /* 0: none is to fail */
static atomic_int failures;

static bool fails(void)
{
	if (pthread_equal(pthread_self(), tester) || atomic_load(&until_failure) == 0 ||
	    atomic_fetch_sub(&until_failure, 1) != 1)
		return false;
	atomic_fetch_add(&failures, 1);
	return true;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t count, size_t n)
{
	return fails() ? NULL : __real_calloc(count, n);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

static void *json_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

static const char *const REQUESTS[] = {
	"GET /hello HTTP/1.1\r\n" CLIENT_KEY "\r\n",
	"GET /items/a?q=b HTTP/1.1\r\n" CLIENT_KEY "\r\n",
	"GET /nowhere HTTP/1.1\r\n" CLIENT_KEY "\r\n",
	"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /busy HTTP/1.1\r\n" CLIENT_KEY "\r\n",
	"POST /json HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 17\r\n\r\n{\"a\":[1,2,\"x\"]} \n",
	"POST /echo HTTP/1.1\r\n" CLIENT_KEY "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	"PUT /upload HTTP/1.1\r\n" CLIENT_KEY "Content-Length: 3\r\n\r\nabc",
	"GET /pieces HTTP/1.1\r\n" CLIENT_KEY "\r\n",
	"GET /events HTTP/1.1\r\n" CLIENT_KEY "\r\n",
	"GET /large?n=3000000 HTTP/1.1\r\n" CLIENT_KEY "\r\n",
	"not HTTP\r\n\r\n",
};

/* Whether the n-th allocation was reached, and so failed. */
static bool ask_with_failure(struct app *app, const char *text, int n)
{
	int before = atomic_load(&failures);
	struct answer a;

	atomic_store(&until_failure, n);
	client_ask_raw(app->port, text, &a);
	atomic_store(&until_failure, 0);
	/* Refused, or cut, or served all the same; never a whole answer that is wrong. */
	if (a.whole && a.status >= 500 && !strstr(a.body, "\"code\":\"unavailable\""))
		fail_msg("%d %s", a.status, a.body);
	answer_free(&a);
	return atomic_load(&failures) > before;
}

static void when_memory_runs_out_one_request_fails_and_the_server_lives_on(void **state)
{
	static const struct app_options defaults;
	struct app *app = app_start(&defaults);
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(REQUESTS) / sizeof(REQUESTS[0]); i++) {
		for (int n = 1; n < 500; n++) {
			struct answer a;

			if (!ask_with_failure(app, REQUESTS[i], n))
				break;
			failed++;
			client_ask(app->port, "GET /hello HTTP/1.1", NULL, &a);
			assert_int_equal(a.status, 200);
			assert_string_equal(a.body, "{\"ok\":true}");
			answer_free(&a);
		}
	}
	assert_true(failed > 50);
	app_wait(atomic_load(&app->connections) == 0);
	assert_int_equal(atomic_load(&app->requests), 0);
	app_stop(app);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_memory_runs_out_one_request_fails_and_the_server_lives_on),
	};

	tester = pthread_self();
	json_set_alloc_funcs(json_malloc, free);
	return cmocka_run_group_tests_name("http_memory", tests, NULL, NULL);
}
