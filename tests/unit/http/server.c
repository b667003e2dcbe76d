/* SPDX-License-Identifier: Apache-2.0
 *
 * server.c - what the HTTP server promises, over real sockets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "client.h"

static void a_request_is_answered_with_json_and_a_request_id(void **state)
{
	struct app *app = *state;
	struct answer a;

	client_ask(app->port, "GET /hello HTTP/1.1", NULL, &a);
	assert_int_equal(a.status, 200);
	assert_string_equal(a.body, "{\"ok\":true}");
	assert_non_null(strstr(a.head, "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(a.head, "\r\nX-Inis-Request-Id: req_"));
	answer_free(&a);
}

static int set_up(void **state)
{
	static const struct app_options defaults;

	*state = app_start(&defaults);
	return 0;
}

static int tear_down(void **state)
{
	app_stop(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_request_is_answered_with_json_and_a_request_id, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("http_server", tests, NULL, NULL);
}
