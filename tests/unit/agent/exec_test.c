/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_test.c - the agent in a real unit: commands, from their start to their end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "client.h"

static void expect_exit(const char *script, int code)
{
	struct outcome o;

	client_run(&client, script, &o);
	if (o.exited.exit_code != code)
		fail_msg("%s: exit %d, stdout \"%s\", stderr \"%s\"", script, o.exited.exit_code, outcome_out(&o),
			 outcome_err(&o));
	outcome_free(&o);
}

/* The leaf that a name was left in shows whether something still runs. */
static bool runs(const char *name)
{
	char script[128];
	struct outcome o;
	bool found;

	snprintf(script, sizeof(script), "grep -lax '%s' /proc/[0-9]*/comm 2>/dev/null | grep -c .", name);
	client_run(&client, script, &o);
	found = strcmp(outcome_out(&o), "0\n") != 0;
	outcome_free(&o);
	return found;
}

/* A child may not have become its program yet. */
static bool runs_soon(const char *name)
{
	for (int i = 0; i < 200; i++) {
		if (runs(name))
			return true;
		usleep(20000);
	}
	return false;
}

/* A copy of sleep under a name of its own, so that it can be told apart. */
static void make_sleeper(const char *name)
{
	char script[128];

	snprintf(script, sizeof(script), "cp /bin/sleep /tmp/%s", name);
	client_succeed(script);
}

static void exec_with(struct inis_exec m, struct outcome *o)
{
	client_exec_finish(&client, client_exec_start(&client, &m), o);
}

static void X1_background_child_does_not_block_exec(void **state)
{
	(void)state;
	make_sleeper("x1sleeper");
	client_expect_output("/tmp/x1sleeper 300 & echo hi", "hi\n");
	client_expect_output("echo again", "again\n");
	assert_true(runs_soon("x1sleeper"));
	/* Nor one that never stops writing; it is not killed by what it writes either. */
	client_expect_output("yes & sleep 0.2; exit 0", NULL);
	assert_true(runs_soon("yes"));
	client_succeed("pkill yes; pkill x1sleeper; true");
}

static void X2_stdin_is_empty_unless_given(void **state)
{
	(void)state;
	client_expect_output("cat", "");
	client_expect_output("read x; echo [$x]", "[]\n");
	client_expect_output("readlink /proc/self/fd/0", "/dev/null\n");
	client_expect_output("readlink /proc/self/fd/1 | cut -d: -f1", "pipe\n");
}

static void X4_timeout_leaves_nothing(void **state)
{
	static const char *const scripts[] = {
		"/tmp/x4sleeper 300 & /tmp/x4sleeper 300",
		"setsid /tmp/x4sleeper 300 & /tmp/x4sleeper 300",
		"nohup /tmp/x4sleeper 300 >/dev/null 2>&1 & /tmp/x4sleeper 300",
		"(setsid sh -c '/tmp/x4sleeper 300 & /tmp/x4sleeper 300' &) ; /tmp/x4sleeper 300",
		"trap '' TERM; (trap '' TERM; /tmp/x4sleeper 300) & while :; do /tmp/x4sleeper 1; done",
	};

	(void)state;
	make_sleeper("x4sleeper");
	for (unsigned i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		struct inis_str argv[3];
		struct inis_exec m = client_sh(scripts[i], argv);
		struct outcome o;

		m.timeout_ms = 300;
		exec_with(m, &o);
		assert_int_equal(o.exited.exit_code, 124);
		assert_true(o.exited.flags & INIS_EXIT_TIMED_OUT);
		assert_true(o.exited.duration_ms >= 300 && o.exited.duration_ms < 60000);
		assert_false(runs("x4sleeper"));
		outcome_free(&o);
	}
}

static void X7_timeout_keeps_the_output_so_far(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("printf partial; printf e >&2; sleep 90", argv);
	struct outcome o;

	(void)state;
	m.timeout_ms = 500;
	exec_with(m, &o);
	assert_string_equal(outcome_out(&o), "partial");
	assert_string_equal(outcome_err(&o), "e");
	assert_int_equal(o.exited.exit_code, 124);
	assert_int_equal(o.exited.signal, 15);
	outcome_free(&o);
}

static void exit_codes_follow_the_rule(void **state)
{
	struct inis_str missing[] = {str("no-such-program")}, absolute[] = {str("/nope/x")},
			plain[] = {str("/etc/passwd")};
	struct inis_exec m = {.id = str(""), .argc = 1, .argv = missing};
	struct outcome o;

	(void)state;
	expect_exit("exit 7", 7);
	expect_exit("kill -9 $$", 137);
	expect_exit("kill -15 $$", 143);
	exec_with(m, &o);
	assert_int_equal(o.exited.exit_code, 127);
	assert_string_equal(outcome_err(&o), "inis: no-such-program: command not found\n");
	outcome_free(&o);
	m = (struct inis_exec){.id = str(""), .argc = 1, .argv = absolute};
	exec_with(m, &o);
	assert_int_equal(o.exited.exit_code, 127);
	outcome_free(&o);
	m = (struct inis_exec){.id = str(""), .argc = 1, .argv = plain};
	exec_with(m, &o);
	assert_int_equal(o.exited.exit_code, 126);
	assert_non_null(strcasestr(outcome_err(&o), "permission denied"));
	outcome_free(&o);
}

static void X21_bad_cwd_is_an_error_that_names_the_path(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("true", argv);
	uint32_t channel;

	(void)state;
	m.cwd = str("/nope");
	channel = client_exec_start(&client, &m);
	client_expect_error(&client, channel, INIS_BAD_REQUEST, "/nope");
	m = client_sh("true", argv);
	m.cwd = str("/root/x");
	channel = client_exec_start(&client, &m);
	client_expect_error(&client, channel, INIS_BAD_REQUEST, "cwd");
}

static void too_long_a_command_is_an_error(void **state)
{
	static char text[256 * 1024];
	struct inis_str argv[] = {str("true"), {text, sizeof(text)}};
	struct inis_exec m = {.id = str(""), .argc = 2, .argv = argv};
	uint32_t channel;

	(void)state;
	memset(text, 'a', sizeof(text));
	channel = client_exec_start(&client, &m);
	client_expect_error(&client, channel, INIS_BAD_REQUEST, "too long");
}

static void cancel(uint32_t channel, uint32_t grace_ms)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u32(&b, grace_ms);
	client_send_buf(&client, channel, INIS_F_CANCEL, &b);
}

static void cancel_ends_everything_of_it(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("trap '' TERM; echo up; setsid /tmp/x4sleeper 300 & sleep 300; sleep 300", argv);
	struct inis_frame f;
	struct outcome o;
	uint32_t channel;

	(void)state;
	channel = client_exec_start(&client, &m);
	client_expect(&client, channel, INIS_F_STARTED, &f);
	client_expect(&client, channel, INIS_F_OUT, &f);
	cancel(channel, 60000);
	cancel(channel, 200);
	client_exec_finish_from(&client, channel, 3, &o);
	assert_int_equal(o.exited.exit_code, 137);
	assert_true(o.exited.flags & INIS_EXIT_KILLED);
	assert_false(o.exited.flags & (INIS_EXIT_TIMED_OUT | INIS_EXIT_OOM));
	assert_false(runs("x4sleeper"));
	outcome_free(&o);
}

static void lost_stream_kills_unless_detached(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("/tmp/lostsleeper 300", argv);
	struct inis_frame f;
	uint32_t channel;

	(void)state;
	make_sleeper("lostsleeper");
	channel = client_exec_start(&client, &m);
	client_expect(&client, channel, INIS_F_STARTED, &f);
	assert_true(runs_soon("lostsleeper"));
	client_release(&client, channel);
	for (int i = 0; i < 100 && runs("lostsleeper"); i++)
		usleep(50000);
	assert_false(runs("lostsleeper"));
	m = client_sh("/tmp/lostsleeper 300", argv);
	m.flags = INIS_EXEC_DETACHED;
	channel = client_exec_start(&client, &m);
	client_expect(&client, channel, INIS_F_STARTED, &f);
	client_release(&client, channel);
	usleep(1500000);
	assert_true(runs_soon("lostsleeper"));
	client_succeed("pkill lostsleeper");
}

static void one_id_one_exec(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("cat", argv);
	struct inis_frame f;
	struct outcome o;
	uint32_t first, second;

	(void)state;
	m.id = str("same");
	m.stdin_mode = INIS_STDIN_PIPE;
	first = client_exec_start(&client, &m);
	client_expect(&client, first, INIS_F_STARTED, &f);
	second = client_exec_start(&client, &m);
	client_expect_error(&client, second, INIS_CONFLICT, "already running");
	client_send_stream(&client, first, INIS_FRAME_EOF, 0, NULL, 0);
	client_exec_finish(&client, first, &o);
	outcome_free(&o);
	second = client_exec_start(&client, &m);
	client_expect(&client, second, INIS_F_STARTED, &f);
	client_send_stream(&client, second, INIS_FRAME_EOF, 0, NULL, 0);
	client_exec_finish(&client, second, &o);
	outcome_free(&o);
	m.id = str("../x");
	second = client_exec_start(&client, &m);
	client_expect_error(&client, second, INIS_BAD_REQUEST, "exec_id");
}

static void P10_memory_bomb_dies_alone_and_is_reported(void **state)
{
	struct outcome o;

	(void)state;
	client_run(&client, "exec python3 -c 'x = bytearray(400 << 20)'", &o);
	assert_int_equal(o.exited.exit_code, 137);
	assert_true(o.exited.flags & INIS_EXIT_OOM);
	outcome_free(&o);
	/* A child of it: the shell lives on and the flag is there. */
	client_run(&client, "python3 -c 'x = bytearray(400 << 20)'; echo survived", &o);
	assert_string_equal(outcome_out(&o), "survived\n");
	assert_true(o.exited.flags & INIS_EXIT_OOM);
	outcome_free(&o);
	client_run(&client, "kill -9 $$", &o);
	assert_false(o.exited.flags & INIS_EXIT_OOM);
	outcome_free(&o);
}

static void cpu_time_counts_children(void **state)
{
	struct outcome o;

	(void)state;
	client_run(&client, "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'", &o);
	assert_true(o.exited.cpu_us > 10000);
	outcome_free(&o);
}

static void many_at_once_and_no_leaf_stays(void **state)
{
	uint32_t channels[100];
	struct inis_str argv[3];
	unsigned ended = 0;
	struct inis_frame f;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		struct inis_exec m = client_sh("echo x; (sleep 0.1 &)", argv);

		channels[i] = client_exec_start(&client, &m);
	}
	while (ended < 100) {
		assert_true(client_next(&client, &f));
		assert_int_not_equal(f.type, INIS_F_ERROR);
		ended += f.type == INIS_F_EXITED;
	}
	for (unsigned i = 0; i < 100; i++)
		client_release(&client, channels[i]);
	for (int i = 0; i < 100 && unit_leaves(&unit) > 1; i++)
		usleep(50000);
	client_expect_output("true", "");
	assert_true(unit_leaves(&unit) <= 1);
	assert_int_equal(unit_guests(&unit), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(X1_background_child_does_not_block_exec),
		cmocka_unit_test(X2_stdin_is_empty_unless_given),
		cmocka_unit_test(X4_timeout_leaves_nothing),
		cmocka_unit_test(X7_timeout_keeps_the_output_so_far),
		cmocka_unit_test(exit_codes_follow_the_rule),
		cmocka_unit_test(X21_bad_cwd_is_an_error_that_names_the_path),
		cmocka_unit_test(too_long_a_command_is_an_error),
		cmocka_unit_test(cancel_ends_everything_of_it),
		cmocka_unit_test(lost_stream_kills_unless_detached),
		cmocka_unit_test(one_id_one_exec),
		cmocka_unit_test(P10_memory_bomb_dies_alone_and_is_reported),
		cmocka_unit_test(cpu_time_counts_children),
		cmocka_unit_test(many_at_once_and_no_leaf_stays),
	};

	return run_with_client(tests, 0);
}
