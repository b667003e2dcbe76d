/* SPDX-License-Identifier: Apache-2.0
 *
 * serve.c - inisd as an operator sees it: it starts, survives the death of its parts, ends, and sessions live on.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "os/path.h"
#include "os/proc.h"
#include "server.h"

static char text[65536];

static void create_session(const struct server *s, char id[static 32])
{
	json_t *session;

	if (server_request(s, "POST", "/v1/sessions", "{}", text, sizeof(text)) / 100 != 2)
		fail_msg("create: %s", text);
	session = json_loads(text, 0, NULL);
	snprintf(id, 32, "%s", json_string_value(json_object_get(session, "session_id")));
	json_decref(session);
}

static void session_path(char *path, size_t size, const char *id)
{
	snprintf(path, size, "/v1/sessions/%s", id);
}

static void assert_live(const struct server *s, const char *id)
{
	char path[64];

	session_path(path, sizeof(path), id);
	/* A server that starts anew meets the session's unit some moments after the session. */
	do
		server_get_until_ok(s, path, text, sizeof(text));
	while (strstr(text, "\"state\":\"creating\"") && usleep(10000) == 0);
	assert_non_null(strstr(text, "\"state\":\"live\""));
}

static void delete_session(const struct server *s, const char *id)
{
	char path[64];

	session_path(path, sizeof(path), id);
	if (server_request(s, "DELETE", path, "", text, sizeof(text)) / 100 != 2)
		fail_msg("delete: %s", text);
}

static void engine_json_names_the_running_server_until_it_ends(void **state)
{
	struct server s;
	char path[128];
	json_t *engine;

	(void)state;
	server_init(&s);
	server_start(&s, NULL);
	snprintf(path, sizeof(path), "%s/engine.json", s.state_dir);
	engine = json_load_file(path, 0, NULL);
	assert_non_null(engine);
	assert_int_equal(json_integer_value(json_object_get(engine, "pid")), s.pid);
	assert_int_equal(json_integer_value(json_object_get(engine, "start_time")), inis_start_time(s.pid));
	json_decref(engine);
	server_get_until_ok(&s, "/v1/healthz", text, sizeof(text));
	assert_int_equal(server_stop(&s, SIGTERM), 0);
	assert_int_equal(access(path, F_OK), -1);
	server_free(&s);
}

static void the_front_runs_without_rights_and_is_started_again(void **state)
{
	struct server s;
	char id[32];
	char path[64];
	char status[4096];
	pid_t front;

	(void)state;
	server_init(&s);
	server_start(&s, NULL);
	create_session(&s, id);
	front = server_child(&s, "inisd", 0);
	snprintf(path, sizeof(path), "/proc/%d/status", front);
	assert_true(inis_read_at(AT_FDCWD, path, status, sizeof(status), NULL) > 0);
	assert_non_null(strstr(status, "Uid:\t536805376\t536805376\t536805376\t536805376"));
	assert_non_null(strstr(status, "Groups:\t \n"));
	assert_non_null(strstr(status, "CapEff:\t0000000000000000"));
	assert_non_null(strstr(status, "CapBnd:\t0000000000000000"));
	assert_non_null(strstr(status, "NoNewPrivs:\t1"));
	assert_non_null(strstr(status, "Seccomp:\t2"));
	kill(front, SIGKILL);
	server_child(&s, "inisd", front);
	assert_live(&s, id);
	delete_session(&s, id);
	server_free(&s);
}

static void sessions_survive_the_death_of_the_broker(void **state)
{
	struct server s;
	char id[32];
	pid_t front;
	pid_t broker;

	(void)state;
	server_init(&s);
	server_start(&s, NULL);
	create_session(&s, id);
	front = server_child(&s, "inisd", 0);
	broker = server_child(&s, "inis-broker", 0);
	kill(broker, SIGKILL);
	server_child(&s, "inis-broker", broker);
	server_child(&s, "inisd", front);
	assert_live(&s, id);
	delete_session(&s, id);
	server_free(&s);
}

static void sessions_survive_the_server_however_it_ends(void **state)
{
	static const int ends[] = {SIGTERM, SIGKILL};
	struct server s;
	char id[32];

	(void)state;
	server_init(&s);
	server_start(&s, NULL);
	create_session(&s, id);
	for (unsigned i = 0; i < 2; i++) {
		server_stop(&s, ends[i]);
		server_start(&s, NULL);
		assert_live(&s, id);
	}
	delete_session(&s, id);
	assert_int_equal(server_stop(&s, SIGTERM), 0);
	server_free(&s);
}

static void a_second_server_on_the_same_state_is_refused(void **state)
{
	struct server s;

	(void)state;
	server_init(&s);
	server_start(&s, NULL);
	assert_int_equal(server_fails(&s, NULL, text, sizeof(text)), 1);
	assert_non_null(strstr(text, "another inisd is serving"));
	server_get_until_ok(&s, "/v1/healthz", text, sizeof(text));
	server_free(&s);
}

static void a_server_that_is_idle_for_long_enough_ends_by_itself(void **state)
{
	static const char *const options[] = {"--embedded", "--exit-when-idle", "1", NULL};
	struct server s;
	char path[128];

	(void)state;
	server_init(&s);
	server_start(&s, options);
	assert_int_equal(server_stop(&s, 0), 0);
	snprintf(path, sizeof(path), "%s/engine.json", s.state_dir);
	assert_int_equal(access(path, F_OK), -1);
	server_free(&s);
}

static void mistakes_of_the_operator_are_answered_before_anything_starts(void **state)
{
	static const char *const bad_flag[] = {"--colour", "red", NULL};
	static const char *const bad_listen[] = {"--listen", "192.0.2.1:1", NULL};
	struct server s;
	char path[128];

	(void)state;
	server_init(&s);
	assert_int_equal(server_fails(&s, bad_flag, text, sizeof(text)), 2);
	assert_non_null(strstr(text, "--colour"));
	assert_int_equal(server_fails(&s, bad_listen, text, sizeof(text)), 1);
	assert_non_null(strstr(text, "192.0.2.1:1"));
	snprintf(path, sizeof(path), "%s/engine.json", s.state_dir);
	assert_int_equal(access(path, F_OK), -1);
	server_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_json_names_the_running_server_until_it_ends),
		cmocka_unit_test(the_front_runs_without_rights_and_is_started_again),
		cmocka_unit_test(sessions_survive_the_death_of_the_broker),
		cmocka_unit_test(sessions_survive_the_server_however_it_ends),
		cmocka_unit_test(a_second_server_on_the_same_state_is_refused),
		cmocka_unit_test(a_server_that_is_idle_for_long_enough_ends_by_itself),
		cmocka_unit_test(mistakes_of_the_operator_are_answered_before_anything_starts),
	};

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	return cmocka_run_group_tests_name("daemon_serve", tests, NULL, NULL);
}
