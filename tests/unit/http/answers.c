/* SPDX-License-Identifier: Apache-2.0
 *
 * answers.c - routes, keys, errors and the form of answers, over real sockets.
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

static void expect(const char *request_line, const char *body, int status, const char *answer)
{
	struct answer a;

	client_ask(app->port, request_line, body, &a);
	assert_int_equal(a.status, status);
	assert_true(a.whole);
	if (!strstr(a.body, answer))
		fail_msg("%s: `%s` is not in `%s`", request_line, answer, a.body);
	assert_non_null(strstr(a.head, "\r\nX-Inis-Request-Id: req_"));
	answer_free(&a);
}

static void an_answer_is_compact_json_with_a_request_id(void **state)
{
	struct answer a;

	(void)state;
	client_ask(app->port, "GET /hello HTTP/1.1", NULL, &a);
	assert_int_equal(a.status, 200);
	assert_string_equal(a.body, "{\"ok\":true}");
	assert_non_null(strstr(a.head, "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(a.head, "\r\nX-Inis-Request-Id: req_"));
	assert_null(strcasestr(a.head, "Connection: close"));
	answer_free(&a);
}

static void captures_and_query_are_decoded(void **state)
{
	(void)state;
	expect("GET /items/a%20b?q=c+d%2Fe HTTP/1.1", NULL, 200, "{\"name\":\"a b\",\"q\":\"c d/e\"}");
	expect("GET /items/%C3%A4 HTTP/1.1", NULL, 200, "{\"name\":\"\xc3\xa4\",\"q\":null}");
	expect("GET /items/special HTTP/1.1", NULL, 200, "literal");
	expect("GET /items/%73pecial HTTP/1.1", NULL, 200, "literal");
	expect("GET http://any.where:80/items/x?q=1 HTTP/1.1", NULL, 200, "{\"name\":\"x\",\"q\":\"1\"}");
}

static void a_bad_url_is_a_bad_request(void **state)
{
	static const char *const bad[] = {
		"GET /items/%zz HTTP/1.1", "GET /items/a%2fb HTTP/1.1",   "GET /items/%00 HTTP/1.1",
		"GET /items/%ff HTTP/1.1", "GET /items/a?q=%ff HTTP/1.1", "GET /items/a?q=% HTTP/1.1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect(bad[i], NULL, 400, "\"code\":\"bad_request\"");
}

static void unknown_routes_are_404_and_wrong_verbs_405(void **state)
{
	static const char *const verbs[] = {"POST", "PUT", "HEAD", "PATCH", "OPTIONS", "TRACE", "DELETE"};
	struct answer a;

	(void)state;
	expect("GET /nowhere HTTP/1.1", NULL, 404, "\"code\":\"not_found\"");
	expect("GET /hello/ HTTP/1.1", NULL, 404, "\"code\":\"not_found\"");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		char line[64];
		int fd = client_connect(app->port);

		snprintf(line, sizeof(line), "%s /hello HTTP/1.1\r\n", verbs[i]);
		client_send(fd, line);
		client_send(fd, CLIENT_KEY "Connection: close\r\n\r\n");
		client_read_head(fd, &a);
		assert_int_equal(a.status, 405);
		assert_non_null(strstr(a.head, "\r\nAllow: GET\r\n"));
		if (strcmp(verbs[i], "HEAD") == 0)
			assert_true(client_sees_end(fd));
		close(fd);
		answer_free(&a);
	}
}

static void without_a_key_every_path_is_401_but_open_ones(void **state)
{
	static const char *const headers[] = {
		"",
		"Authorization: Bearer wrong\r\n",
		"Authorization: Bearer\r\n",
		"Authorization: Bearer \r\n",
		"Authorization: Basic c2tfdGVzdA==\r\n",
		"Authorization: sk_test\r\n",
	};
	static const char *const paths[] = {"/hello", "/nowhere", "/items/%zz"};
	struct answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]) * 3; i++) {
		char text[256];
		int fd = client_connect(app->port);

		snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", paths[i % 3], headers[i / 3]);
		client_send(fd, text);
		client_read(fd, &a);
		assert_int_equal(a.status, 401);
		assert_non_null(strstr(a.body, "\"code\":\"unauthenticated\""));
		close(fd);
		answer_free(&a);
	}
	client_ask_raw(app->port, "GET /open HTTP/1.1\r\nHost: x\r\n\r\n", &a);
	assert_int_equal(a.status, 200);
	answer_free(&a);
	client_ask_raw(app->port, "GET /hello HTTP/1.1\r\nHost: x\r\nauthorization: bearer   sk_test\r\n\r\n", &a);
	assert_int_equal(a.status, 200);
	answer_free(&a);
}

static void a_key_is_asked_for_before_the_body_is_read(void **state)
{
	struct answer a;

	(void)state;
	client_ask_raw(app->port, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", &a);
	assert_int_equal(a.status, 401);
	assert_true(a.whole);
	answer_free(&a);
}

static void errors_say_code_and_field_and_whether_to_retry(void **state)
{
	struct answer a;

	(void)state;
	client_ask(app->port, "GET /busy HTTP/1.1", NULL, &a);
	assert_int_equal(a.status, 503);
	assert_string_equal(a.body, "{\"error\":\"busy ?\\u0001\",\"code\":\"unavailable\"}");
	assert_non_null(strstr(a.head, "\r\nRetry-After: 1\r\n"));
	answer_free(&a);
	client_ask(app->port, "GET /field HTTP/1.1", NULL, &a);
	assert_int_equal(a.status, 400);
	assert_string_equal(a.body,
			    "{\"error\":\"field `cwd`: must exist\",\"code\":\"bad_request\",\"field\":\"cwd\"}");
	assert_null(strstr(a.head, "Retry-After"));
	answer_free(&a);
}

static void no_content_has_no_body_and_no_length(void **state)
{
	struct answer a;

	(void)state;
	client_ask(app->port, "DELETE /items/x HTTP/1.1", NULL, &a);
	assert_int_equal(a.status, 204);
	assert_null(strcasestr(a.head, "Content-Length"));
	assert_null(strcasestr(a.head, "Content-Type"));
	answer_free(&a);
}

static void a_routed_head_request_gets_headers_only(void **state)
{
	struct answer a;
	int fd = client_connect(app->port);

	(void)state;
	client_send(fd, "HEAD /large?n=5 HTTP/1.1\r\n" CLIENT_KEY "\r\nGET /hello HTTP/1.1\r\n" CLIENT_KEY "\r\n");
	client_read_head(fd, &a);
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.head, "\r\nContent-Length: 5\r\n"));
	answer_free(&a);
	client_read(fd, &a);
	assert_string_equal(a.body, "{\"ok\":true}");
	answer_free(&a);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_compact_json_with_a_request_id),
		cmocka_unit_test(captures_and_query_are_decoded),
		cmocka_unit_test(a_bad_url_is_a_bad_request),
		cmocka_unit_test(unknown_routes_are_404_and_wrong_verbs_405),
		cmocka_unit_test(without_a_key_every_path_is_401_but_open_ones),
		cmocka_unit_test(a_key_is_asked_for_before_the_body_is_read),
		cmocka_unit_test(errors_say_code_and_field_and_whether_to_retry),
		cmocka_unit_test(no_content_has_no_body_and_no_length),
		cmocka_unit_test(a_routed_head_request_gets_headers_only),
	};

	return cmocka_run_group_tests_name("http_answers", tests, start, stop);
}
