/* SPDX-License-Identifier: Apache-2.0
 *
 * fields.c - create requests and commands: what is wrong is refused by name, before anything is made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/command.h"
#include "api/create_fields.h"

static json_t *parse(const char *text)
{
	json_t *o = json_loads(text, JSON_ALLOW_NUL, NULL);

	assert_non_null(o);
	return o;
}

/* "" = accepted; else the field that is named, or the code for what is no field's fault. */
static void create_gives(const char *text, const char *expected)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct session_spec spec;
	json_t *body = parse(text);
	const char *got = "";

	if (create_fields(body, &spec, &err) < 0)
		got = err.field[0] ? err.field : inis_code_name(err.code);
	else
		spec_free(&spec);
	if (strcmp(got, expected) != 0)
		fail_msg("%s: got \"%s\" (%s), expected \"%s\"", text, got, err.message, expected);
	json_decref(body);
}

static void X24_every_wrong_create_field_is_named(void **state)
{
	static const char *const numbers[] = {"max_lifetime_ms", "idle_timeout_ms"};
	static const char *const bad[] = {"0", "-1", "1e30", "1.5", "\"5\"", "true", "[]", "3153600000001"};
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		for (size_t j = 0; j < sizeof(bad) / sizeof(bad[0]); j++) {
			snprintf(text, sizeof(text), "{\"%s\": %s}", numbers[i], bad[j]);
			create_gives(text, numbers[i]);
		}
	}
	create_gives("{\"name\": 5}", "name");
	create_gives("{\"name\": \"\"}", "name");
	create_gives("{\"name\": \"a\\nb\"}", "name");
	create_gives("{\"name\": \"a\\u0000b\"}", "name");
	create_gives("{\"labels\": {\"a\": 1}}", "labels");
	create_gives("{\"labels\": {\"\": \"x\"}}", "labels");
	create_gives("{\"labels\": []}", "labels");
	create_gives("{\"external_id\": \"\"}", "external_id");
	create_gives("{\"size\": \"huge\"}", "size");
	create_gives("{\"size\": 1}", "size");
	create_gives("{\"no_sudo\": \"true\"}", "no_sudo");
	create_gives("{\"idle_mode\": \"x\"}", "idle_mode");
	create_gives("{\"env\": {\"1A\": \"x\"}}", "env");
	create_gives("{\"env\": {\"A B\": \"x\"}}", "env");
	create_gives("{\"env\": {\"A\": \"x\\u0000\"}}", "env");
	create_gives("{\"secrets\": {\"A\": null}}", "secrets");
	create_gives("{\"egress\": \"deny\"}", "egress");
	create_gives("{\"egress\": {}}", "egress.mode");
	create_gives("{\"egress\": {\"mode\": \"maybe\"}}", "egress.mode");
	create_gives("{\"egress\": {\"mode\": \"deny\", \"allow\": [1]}}", "egress.allow");
	create_gives("{\"template\": \"../x\"}", "template");
	create_gives("{\"template\": \"python@\"}", "template");
	create_gives("{\"template\": \"python@1\"}", "");
	create_gives("{\"paused_ttl_ms\": 1.5}", "paused_ttl_ms");
}

static void what_cannot_exist_is_not_found_and_what_is_not_built_says_so(void **state)
{
	(void)state;
	create_gives("{\"volume_id\": \"vol_1\"}", "not_found");
	create_gives("{\"from_checkpoint\": \"chk_1\"}", "not_found");
	create_gives("{\"connectors\": [\"github\"]}", "not_found");
	create_gives("{\"connections\": [{}]}", "not_implemented");
	create_gives("{\"events\": true}", "not_implemented");
	create_gives("{\"artifacts\": {\"paths\": [\"/workspace/x\"]}}", "not_implemented");
}

static void good_requests_pass_and_unknown_members_are_ignored(void **state)
{
	(void)state;
	create_gives("{}", "");
	create_gives("{\"name\": null, \"labels\": null, \"egress\": null, \"size\": null}", "");
	create_gives("{\"something_new\": {\"x\": [1]}}", "");
	create_gives("{\"egress\": {\"mode\": \"deny\", \"allow\": []}}", "");
	create_gives("{\"egress\": {\"default\": \"deny\"}}", "");
	create_gives("{\"template\": \"base\"}", "");
	create_gives("{\"template\": \"host\", \"events\": false, \"connectors\": [], \"connections\": []}", "");
	create_gives("{\"paused_ttl_ms\": -1, \"max_lifetime_ms\": 1000, \"idle_timeout_ms\": 1000}", "");
}

static void activity_mode_raises_a_short_idle_timeout(void **state)
{
	struct session_spec spec;
	json_t *body = parse("{\"idle_mode\": \"activity\", \"idle_timeout_ms\": 1000}");

	(void)state;
	assert_int_equal(create_fields(body, &spec, NULL), 0);
	assert_int_equal(spec.idle_timeout_ms, 30000);
	spec_free(&spec);
	json_decref(body);
}

static void command_gives(const char *text, const char *expected)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct command c;
	json_t *body = parse(text);
	const char *got = "";

	if (command_read(&c, body, &err) < 0)
		got = err.field;
	else
		command_free(&c);
	if (strcmp(got, expected) != 0)
		fail_msg("%s: got \"%s\", expected \"%s\"", text, got, expected);
	json_decref(body);
}

static void every_wrong_command_field_is_named(void **state)
{
	(void)state;
	command_gives("{}", "command");
	command_gives("{\"command\": []}", "command");
	command_gives("{\"command\": \"\"}", "command");
	command_gives("{\"command\": [1]}", "command");
	command_gives("{\"command\": [\"a\\u0000\"]}", "command");
	command_gives("{\"command\": {\"a\": 1}}", "command");
	command_gives("{\"command\": [\"ls\"], \"cwd\": \"\"}", "cwd");
	command_gives("{\"command\": [\"ls\"], \"cwd\": 5}", "cwd");
	command_gives("{\"command\": [\"ls\"], \"env\": {\"A\": 1}}", "env");
	command_gives("{\"command\": [\"ls\", \"\"], \"cwd\": \"x\", \"env\": {\"A\": \"\"}}", "");
}

static void a_bare_string_is_a_line_for_the_login_shell(void **state)
{
	struct command c;
	json_t *body = parse("{\"command\": \"echo hi\"}");

	(void)state;
	assert_int_equal(command_read(&c, body, NULL), 0);
	assert_int_equal(c.argc, 3);
	assert_string_equal(c.argv[0].s, "bash");
	assert_string_equal(c.argv[1].s, "-lc");
	assert_string_equal(c.argv[2].s, "echo hi");
	command_free(&c);
	json_decref(body);
}

static const char *value_of(const struct command *c, const char *name)
{
	size_t n = strlen(name);

	for (uint32_t i = 0; i < c->envc; i++) {
		if (strncmp(c->env[i].s, name, n) == 0 && c->env[i].s[n] == '=')
			return c->env[i].s + n + 1;
	}
	return NULL;
}

static void X22_call_env_wins_over_secrets_over_session_env(void **state)
{
	struct session_spec spec;
	struct command c;
	json_t *create = parse("{\"env\": {\"A\": \"env\", \"B\": \"env\", \"C\": \"env\"},"
			       " \"secrets\": {\"B\": \"secret\", \"C\": \"secret\"}}");
	json_t *body = parse("{\"command\": [\"env\"], \"env\": {\"C\": \"call\"}}");

	(void)state;
	assert_int_equal(create_fields(create, &spec, NULL), 0);
	assert_int_equal(command_read(&c, body, NULL), 0);
	assert_int_equal(command_merge_env(&c, &spec, NULL), 0);
	assert_int_equal(c.envc, 3);
	assert_string_equal(value_of(&c, "A"), "env");
	assert_string_equal(value_of(&c, "B"), "secret");
	assert_string_equal(value_of(&c, "C"), "call");
	command_free(&c);
	spec_free(&spec);
	json_decref(create);
	json_decref(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(X24_every_wrong_create_field_is_named),
		cmocka_unit_test(what_cannot_exist_is_not_found_and_what_is_not_built_says_so),
		cmocka_unit_test(good_requests_pass_and_unknown_members_are_ignored),
		cmocka_unit_test(activity_mode_raises_a_short_idle_timeout),
		cmocka_unit_test(every_wrong_command_field_is_named),
		cmocka_unit_test(a_bare_string_is_a_line_for_the_login_shell),
		cmocka_unit_test(X22_call_env_wins_over_secrets_over_session_env),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
