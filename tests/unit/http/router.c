/* SPDX-License-Identifier: Apache-2.0
 *
 * router.c - which route a path leads to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "http/router.h"

static const struct http_route ROUTES[] = {
	{.method = "GET", .pattern = "/v1/sessions"},
	{.method = "POST", .pattern = "/v1/sessions"},
	{.method = "POST", .pattern = "/v1/sessions/exec"},
	{.method = "GET", .pattern = "/v1/sessions/{id}"},
	{.method = "DELETE", .pattern = "/v1/sessions/{id}"},
	{.method = "POST", .pattern = "/v1/sessions/{id}/exec"},
	{.method = "GET", .pattern = "/v1/sessions/{session}/processes/{name}"},
	{.method = "GET", .pattern = "/v1/sessions/special/other"},
};

static struct http_match find(const char *method, const char *path)
{
	static char room[512];
	static const char *segments[HTTP_SEGMENTS_MAX];
	struct http_router *r = http_router_new(ROUTES, sizeof(ROUTES) / sizeof(ROUTES[0]), NULL);
	int count = http_path_split(path, room, segments, NULL);
	struct http_match m;
	static char allow[64];

	assert_non_null(r);
	http_router_find(r, method, segments, count, &m);
	if (m.allow)
		m.allow = strcpy(allow, m.allow);
	/* The names of captures end with the router. */
	for (int i = 0; i < m.param_count; i++) {
		static char names[HTTP_SEGMENTS_MAX][32];

		m.params[i].name = strcpy(names[i], m.params[i].name);
	}
	http_router_free(r);
	return m;
}

static void a_path_leads_to_its_route_and_captures_are_named(void **state)
{
	struct http_match m = find("GET", "/v1/sessions/abc/processes/a%20b");

	(void)state;
	assert_ptr_equal(m.route, &ROUTES[6]);
	assert_int_equal(m.param_count, 2);
	assert_string_equal(m.params[0].name, "session");
	assert_string_equal(m.params[0].value, "abc");
	assert_string_equal(m.params[1].name, "name");
	assert_string_equal(m.params[1].value, "a b");
	m = find("DELETE", "/v1/sessions/abc");
	assert_ptr_equal(m.route, &ROUTES[4]);
	assert_string_equal(m.params[0].name, "id");
}

static void literals_win_over_captures_and_fall_back_to_them(void **state)
{
	(void)state;
	assert_ptr_equal(find("POST", "/v1/sessions/exec").route, &ROUTES[2]);
	assert_ptr_equal(find("POST", "/v1/sessions/exec/exec").route, &ROUTES[5]);
	assert_ptr_equal(find("POST", "/v1/sessions/special/exec").route, &ROUTES[5]);
	assert_ptr_equal(find("GET", "/v1/sessions/special").route, &ROUTES[3]);
}

static void an_unknown_path_is_not_found(void **state)
{
	static const char *const unknown[] = {"/",
					      "/v1",
					      "/v2/sessions",
					      "/v1/sessions/",
					      "//v1/sessions",
					      "/v1//",
					      "/v1/sessions/a/b/c/d",
					      "/v1/sessions//exec",
					      "/v1/sessions/x/processes/"};

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		struct http_match m = find("GET", unknown[i]);

		assert_null(m.route);
		assert_null(m.allow);
	}
}

static void a_wrong_method_names_the_right_ones(void **state)
{
	struct http_match m = find("PUT", "/v1/sessions");

	(void)state;
	assert_null(m.route);
	assert_string_equal(m.allow, "GET, POST");
	assert_string_equal(find("HEAD", "/v1/sessions/abc").allow, "GET, DELETE");
	assert_string_equal(find("GET", "/v1/sessions/exec").allow, "POST");
}

static void a_table_that_contradicts_itself_is_refused(void **state)
{
	static const struct http_route twice[] = {{.method = "GET", .pattern = "/a/{x}"},
						  {.method = "GET", .pattern = "/a/{y}"}};
	static const struct http_route malformed[] = {{.method = "GET", .pattern = "a"}};
	static const struct http_route empty[] = {{.method = "GET", .pattern = "/a//b"}};
	struct inis_error err = INIS_ERROR_INIT;

	(void)state;
	assert_null(http_router_new(twice, 2, &err));
	assert_non_null(strstr(err.message, "twice"));
	assert_null(http_router_new(malformed, 1, &err));
	assert_null(http_router_new(empty, 1, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_leads_to_its_route_and_captures_are_named),
		cmocka_unit_test(literals_win_over_captures_and_fall_back_to_them),
		cmocka_unit_test(an_unknown_path_is_not_found),
		cmocka_unit_test(a_wrong_method_names_the_right_ones),
		cmocka_unit_test(a_table_that_contradicts_itself_is_refused),
	};

	return cmocka_run_group_tests_name("http_router", tests, NULL, NULL);
}
