/* SPDX-License-Identifier: Apache-2.0
 *
 * command_test.c - what a request to run something means: environment, program, directory, user.
 */
#include "agent/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct guest_user user = {.home = "/home/sandbox", .shell = "/bin/bash"};

static struct inis_str str(const char *s)
{
	return (struct inis_str){s, strlen(s)};
}

static const char *env(const struct command *c, const char *name)
{
	size_t n = strlen(name);
	const char *value = NULL;

	for (size_t i = 0; i < c->env.n; i++) {
		if (strncmp(c->env.v[i], name, n) == 0 && c->env.v[i][n] == '=') {
			/* Defined once. */
			assert_null(value);
			value = c->env.v[i] + n + 1;
		}
	}
	return value;
}

static void build(struct command *c, const char *program, const char *cwd, struct inis_str *vars, uint32_t n)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_str argv[] = {str(program), str("arg")};
	struct inis_exec m = {.argc = 2, .argv = argv, .envc = n, .env = vars, .cwd = str(cwd)};

	if (command_build(c, &m, &user, &err) < 0)
		fail_msg("%s", err.message);
}

static void base_environment_is_a_login_s(void **state)
{
	struct command c;

	(void)state;
	build(&c, "ls", "", NULL, 0);
	assert_string_equal(env(&c, "HOME"), "/home/sandbox");
	assert_string_equal(env(&c, "USER"), "sandbox");
	assert_string_equal(env(&c, "LOGNAME"), "sandbox");
	assert_string_equal(env(&c, "SHELL"), "/bin/bash");
	assert_string_equal(env(&c, "LANG"), "C.UTF-8");
	assert_string_equal(env(&c, "PWD"), "/workspace");
	assert_null(env(&c, "TERM"));
	assert_null(c.argv.v[2]);
	command_free(&c);
}

static void P6_request_wins_over_base_and_the_last_over_the_first(void **state)
{
	struct inis_str vars[] = {str("HOME=/x"), str("A=1"), str("A=2"), str("EMPTY="), str("AB=3"), str("A=4")};
	struct command c;

	(void)state;
	build(&c, "ls", "", vars, 6);
	assert_string_equal(env(&c, "HOME"), "/x");
	assert_string_equal(env(&c, "A"), "4");
	assert_string_equal(env(&c, "AB"), "3");
	assert_string_equal(env(&c, "EMPTY"), "");
	command_free(&c);
}

static void a_variable_without_name_is_refused(void **state)
{
	static const char *const bad[] = {"", "=x", "NAME"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct inis_error err = INIS_ERROR_INIT;
		struct inis_str argv[] = {str("ls")}, vars[] = {str(bad[i])};
		struct inis_exec m = {.argc = 1, .argv = argv, .envc = 1, .env = vars};
		struct command c;

		assert_int_equal(command_build(&c, &m, &user, &err), -1);
		assert_int_equal(err.code, INIS_BAD_REQUEST);
		assert_string_equal(err.field, "env");
	}
}

static void programs_are_looked_for_in_the_request_s_path(void **state)
{
	struct inis_str vars[] = {str("PATH=/a:/b::/c")};
	struct command c;

	(void)state;
	build(&c, "tool", "", vars, 1);
	assert_int_equal(c.paths.n, 4);
	assert_string_equal(c.paths.v[0], "/a/tool");
	assert_string_equal(c.paths.v[1], "/b/tool");
	assert_string_equal(c.paths.v[2], "./tool");
	assert_string_equal(c.paths.v[3], "/c/tool");
	command_free(&c);
	build(&c, "./tool", "", vars, 1);
	assert_int_equal(c.paths.n, 1);
	assert_string_equal(c.paths.v[0], "./tool");
	command_free(&c);
	build(&c, "", "", vars, 1);
	assert_int_equal(c.paths.n, 0);
	command_free(&c);
}

static void a_relative_directory_is_below_the_workspace(void **state)
{
	struct command c;

	(void)state;
	build(&c, "ls", "src/x", NULL, 0);
	assert_string_equal(c.cwd, "/workspace/src/x");
	assert_string_equal(env(&c, "PWD"), "/workspace/src/x");
	command_free(&c);
	build(&c, "ls", "/tmp", NULL, 0);
	assert_string_equal(c.cwd, "/tmp");
	command_free(&c);
}

static void user_comes_from_the_guest_s_files(void **state)
{
	struct guest_user u = {.uid = 999, .gid = 999};

	(void)state;
	user_parse_passwd("root:x:0:0:root:/root:/bin/sh\nsandboxer:x:5:5::/no:/no\n"
			  "sandbox:x:1001:1002:A user:/home/sb:/bin/zsh\nsandbox:x:7:7::/:/\n",
			  &u);
	assert_int_equal(u.uid, 1001);
	assert_int_equal(u.gid, 1002);
	assert_string_equal(u.home, "/home/sb");
	assert_string_equal(u.shell, "/bin/zsh");
	user_parse_group("root:x:0:\nsandbox:x:1002:\naudio:x:29:other,sandbox\nvideo:x:44:sandbox,other\n"
			 "almost:x:50:sandboxer\nown:x:1002:sandbox\n",
			 &u);
	assert_int_equal(u.n_groups, 2);
	assert_int_equal(u.groups[0], 29);
	assert_int_equal(u.groups[1], 44);
}

static void damaged_files_of_the_guest_do_no_harm(void **state)
{
	static const char *const bad[] = {"",
					  "sandbox",
					  "sandbox:",
					  "sandbox:x:",
					  "sandbox:x:-1:0::/h:/s",
					  "sandbox:x:99999999999999999999:1::/h:/s",
					  "sandbox:x:12a:1::/h:/s",
					  "sandbox:x::::::",
					  ":::::::\n::\nsandbox:x:70000:1"};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct guest_user u = {.uid = 999, .gid = 999};

		user_parse_passwd(bad[i], &u);
		user_parse_group(bad[i], &u);
		assert_int_equal(u.uid, 999);
		assert_int_equal(u.gid, 999);
		assert_int_equal(u.n_groups, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base_environment_is_a_login_s),
		cmocka_unit_test(P6_request_wins_over_base_and_the_last_over_the_first),
		cmocka_unit_test(a_variable_without_name_is_refused),
		cmocka_unit_test(programs_are_looked_for_in_the_request_s_path),
		cmocka_unit_test(a_relative_directory_is_below_the_workspace),
		cmocka_unit_test(user_comes_from_the_guest_s_files),
		cmocka_unit_test(damaged_files_of_the_guest_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
