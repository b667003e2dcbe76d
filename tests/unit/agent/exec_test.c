/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_test.c - the agent in a real unit: activation, rights, exec and its resume.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "client.h"
#include "wire/unit_proto.h"

static void expect_output(const char *script, const char *out)
{
	struct outcome o;

	client_run(&client, script, &o);
	if (out && strcmp(outcome_out(&o), out) != 0)
		fail_msg("%s: \"%s\" expected, got \"%s\", stderr \"%s\"", script, out, outcome_out(&o),
			 outcome_err(&o));
	outcome_free(&o);
}

static void guest_is_what_it_should_be(void **state)
{
	(void)state;
	expect_output("id -u; id -g; id -G; pwd; hostname", "999\n999\n999 1500\n/workspace\nguest\n");
	expect_output("echo $HOME $USER $LOGNAME $SHELL $LANG $PWD ${TERM-none}",
		      "/home/sandbox sandbox sandbox /bin/bash C.UTF-8 /workspace none\n");
	expect_output("umask; ulimit -c; cat /proc/1/comm; sleep 0.5; cat /proc/self/oom_score_adj",
		      "0022\n0\ninis-agent\n300\n");
	expect_output("ls /proc/self/fd", "0\n1\n2\n3\n");
	expect_output("grep -E 'Cap(Eff|Prm|Inh|Amb)|SigBlk|SigIgn|Seccomp:' /proc/self/status",
		      "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nCapInh:\t0000000000000000\n"
		      "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\nSeccomp:\t2\n");
	expect_output("echo hi > /dev/stdout; echo there > /dev/shm/x; cat /dev/shm/x", "hi\nthere\n");
}

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
	expect_exit(script, 0);
}

static void exec_with(struct inis_exec m, struct outcome *o)
{
	client_exec_finish(&client, client_exec_start(&client, &m), o);
}

static void X1_background_child_does_not_block_exec(void **state)
{
	(void)state;
	make_sleeper("x1sleeper");
	expect_output("/tmp/x1sleeper 300 & echo hi", "hi\n");
	expect_output("echo again", "again\n");
	assert_true(runs_soon("x1sleeper"));
	/* Nor one that never stops writing; it is not killed by what it writes either. */
	expect_output("yes & sleep 0.2; exit 0", NULL);
	assert_true(runs_soon("yes"));
	expect_exit("pkill yes; pkill x1sleeper; true", 0);
}

static void X2_stdin_is_empty_unless_given(void **state)
{
	(void)state;
	expect_output("cat", "");
	expect_output("read x; echo [$x]", "[]\n");
	expect_output("readlink /proc/self/fd/0", "/dev/null\n");
	expect_output("readlink /proc/self/fd/1 | cut -d: -f1", "pipe\n");
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

static void X19_output_of_a_fast_command_is_complete(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++)
		expect_output("echo x", "x\n");
}

static void O4_output_beyond_the_cap_is_dropped_and_counted(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("head -c 20000000 /dev/zero; echo e >&2; exit 3", argv);
	struct outcome o;

	(void)state;
	m.capture_max = 1000000;
	exec_with(m, &o);
	assert_int_equal(o.out.len, 1000000);
	assert_int_equal(o.exited.out_total, 20000000);
	assert_int_equal(o.exited.flags & (INIS_EXIT_OUT_CUT | INIS_EXIT_ERR_CUT), INIS_EXIT_OUT_CUT);
	assert_int_equal(o.exited.exit_code, 3);
	assert_string_equal(outcome_err(&o), "e\n");
	outcome_free(&o);
	client_run(&client, "head -c 20000000 /dev/zero", &o);
	assert_int_equal(o.out.len, 20000000);
	outcome_free(&o);
}

static void a_stream_nobody_acknowledges_stalls_only_its_command(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("head -c 1000000 /dev/zero; echo done >&2", argv);
	uint32_t channel = client_exec_start(&client, &m);
	struct inis_frame f;
	uint64_t got = 0;

	(void)state;
	client_expect(&client, channel, INIS_F_STARTED, &f);
	while (got < INIS_AGENT_WINDOW) {
		client_expect(&client, channel, INIS_F_OUT, &f);
		got += f.length - 8;
	}
	assert_int_equal(got, INIS_AGENT_WINDOW);
	expect_output("echo others go on", "others go on\n");
	client_ack(&client, channel, got, 0);
	while (got < 1000000) {
		client_expect(&client, channel, INIS_F_OUT, &f);
		got += f.length - 8;
		client_ack(&client, channel, got, 0);
	}
	client_expect(&client, channel, INIS_F_ERR, &f);
	client_expect(&client, channel, INIS_F_EXITED, &f);
	client_release(&client, channel);
}

static void send_input(uint32_t channel, const char *data, size_t n)
{
	struct inis_frame f;
	struct inis_unpack u;
	uint64_t acked = 0, sent = 0;

	while (acked < n) {
		while (sent < n && sent - acked < INIS_AGENT_WINDOW) {
			size_t room = INIS_AGENT_WINDOW - (size_t)(sent - acked);
			size_t piece = n - sent < 50000 ? (size_t)(n - sent) : 50000;

			if (piece > room)
				piece = room;
			client_send_stream(&client, channel, sent + piece == n ? INIS_FRAME_EOF : 0, sent, data + sent,
					   piece);
			sent += piece;
		}
		client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
		inis_unpack_init(&u, f.payload, f.length);
		acked = inis_unpack_u64(&u);
	}
}

static void X14_large_stdin_arrives_whole_and_its_end_is_seen(void **state)
{
	static char data[3000000];
	struct inis_str argv[3];
	struct inis_exec m = client_sh("wc -c", argv);
	struct inis_frame f;
	struct outcome o;
	uint32_t channel;

	(void)state;
	memset(data, 'x', sizeof(data));
	m.stdin_mode = INIS_STDIN_PIPE;
	channel = client_exec_start(&client, &m);
	client_expect(&client, channel, INIS_F_STARTED, &f);
	send_input(channel, data, sizeof(data));
	client_exec_finish(&client, channel, &o);
	assert_string_equal(outcome_out(&o), "3000000\n");
	outcome_free(&o);
}

static void a_reader_that_closes_stdin_is_told_about(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("exec <&-; sleep 0.3; echo ok", argv);
	struct inis_frame f;
	struct outcome o;
	uint32_t channel;

	(void)state;
	m.stdin_mode = INIS_STDIN_PIPE;
	channel = client_exec_start(&client, &m);
	client_expect(&client, channel, INIS_F_STARTED, &f);
	client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
	assert_int_equal(f.payload[8], 1);
	client_send_stream(&client, channel, INIS_FRAME_EOF, 0, "ignored", 7);
	client_exec_finish(&client, channel, &o);
	assert_string_equal(outcome_out(&o), "ok\n");
	outcome_free(&o);
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
	expect_exit("pkill lostsleeper", 0);
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
	expect_output("true", "");
	assert_true(unit_leaves(&unit) <= 1);
	assert_int_equal(unit_guests(&unit), 0);
}

static void P11_orphans_are_reaped(void **state)
{
	(void)state;
	expect_exit("i=0; while [ $i -lt 300 ]; do (sh -c 'true &' &); i=$((i+1)); done; wait", 0);
	usleep(300000);
	expect_output("grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l", "0\n");
}

static void named_namespaces_and_mounts_are_out_of_reach(void **state)
{
	(void)state;
	expect_output("unshare -U true 2>/dev/null && echo yes; mount -t tmpfs x /tmp 2>/dev/null && echo yes; echo no",
		      "no\n");
	expect_output(
		"for f in kcore kallsyms keys timer_list; do test -e /proc/$f && head -c 1 /proc/$f | wc -c; done "
		"2>/dev/null | sort -u",
		"0\n");
	expect_output(
		"(echo 1 > /proc/sys/net/ipv4/ip_forward) 2>/dev/null; (echo b > /proc/sysrq-trigger) 2>/dev/null; "
		"echo $?",
		NULL);
	expect_output("cat /proc/1/environ 2>/dev/null; readlink /proc/1/exe; kill -9 1 2>/dev/null; echo alive",
		      "alive\n");
	expect_output(
		"python3 -c \"import socket\nfor f in (40, 38, 17, 44):\n try:\n  socket.socket(f, 1)\n  print('open', f)\n"
		" except OSError: pass\nsocket.socket(socket.AF_INET6)\nprint('ok')\"",
		"ok\n");
	expect_output("python3 -c \"import ctypes\nl = ctypes.CDLL(None, use_errno=True)\n"
		      "for nr in (425, 435, 323, 321, 298, 250, 272, 165, 308):\n"
		      " print(nr, l.syscall(nr, 0, 0, 0, 0, 0), ctypes.get_errno())\"",
		      "425 -1 38\n435 -1 38\n323 -1 1\n321 -1 1\n298 -1 1\n250 -1 1\n272 -1 1\n165 -1 1\n308 -1 1\n");
}

static void insiders_cannot_talk_to_the_agent(void **state)
{
	(void)state;
	expect_output("python3 -c \"import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0inis-agent')\n"
		      "s.settimeout(20)\nprint(s.recv(1))\"",
		      "b''\n");
	/* A flood of them does not keep the client out. */
	expect_exit("python3 -c \"import socket\nfor i in range(3000):\n s = socket.socket(socket.AF_UNIX)\n"
		    " s.connect('\\0inis-agent')\n\"",
		    0);
}

static void sudo_works_without_dangerous_capabilities(void **state)
{
	(void)state;
	expect_output("printf 'sandbox ALL=(ALL) NOPASSWD:ALL\\n' > /tmp/sudoers; id -u", "999\n");
	expect_output("grep CapBnd /proc/self/status", "CapBnd:\t00000000a00405fb\n");
}

static void malformed_frames_end_the_connection_and_nothing_else(void **state)
{
	static const char *const bad[] = {
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		"\x07\0\0\0\0\0\0\0\x01\0\0\0\x04\0\0\0abcd",
		"\x07\0\0\0\x01\0\0\0\x20\0\0\0\x00\0\0\0",
	};
	static const size_t sizes[] = {16, 20, 16};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		int sock = unit_connect(&unit);
		char byte;
		struct timeval limit = {.tv_sec = 20};
		int flags = fcntl(sock, F_GETFL);

		fcntl(sock, F_SETFL, flags & ~O_NONBLOCK);
		setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		assert_int_equal(send(sock, bad[i], sizes[i], MSG_NOSIGNAL), sizes[i]);
		assert_int_equal(recv(sock, &byte, 1, 0), 0);
		close(sock);
	}
	expect_output("echo fine", "fine\n");
}

static void malformed_messages_end_in_an_error_on_their_channel(void **state)
{
	static const enum inis_frame_type types[] = {
		INIS_F_EXEC,       INIS_F_PROC_START,  INIS_F_PROC_GET,    INIS_F_PROC_LIST,  INIS_F_PROC_KILL,
		INIS_F_PROC_STDIN, INIS_F_PROC_LOGS,   INIS_F_FILE_READ,   INIS_F_FILE_WRITE, INIS_F_FILE_LIST,
		INIS_F_FILE_MKDIR, INIS_F_FILE_REMOVE, INIS_F_FILE_RENAME, INIS_F_FILE_STAT};

	(void)state;
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		uint32_t channel = client_channel(&client);

		client_send(&client, channel, types[i], 0, "\xff\xff\xff", 3);
		client_expect_error(&client, channel, INIS_BAD_REQUEST, "malformed");
	}
	for (enum inis_frame_type type = 60; type < 120; type++)
		client_send(&client, client_channel(&client), INIS_F_RELEASE, 0, NULL, 0);
	expect_output("echo fine", "fine\n");
}

static void idle_agent_is_small(void **state)
{
	char path[64], line[128];
	unsigned pss = 0;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", unit.pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "Pss: %u kB", &pss);
	fclose(f);
#ifdef __SANITIZE_ADDRESS__
	print_message("skipped: the sanitizer's own memory is no measure\n");
	skip();
#endif
	print_message("Pss of the agent: %u kB\n", pss);
	assert_true(pss > 0 && pss < 2048);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_agent_is_small),
		cmocka_unit_test(guest_is_what_it_should_be),
		cmocka_unit_test(X1_background_child_does_not_block_exec),
		cmocka_unit_test(X2_stdin_is_empty_unless_given),
		cmocka_unit_test(X4_timeout_leaves_nothing),
		cmocka_unit_test(X7_timeout_keeps_the_output_so_far),
		cmocka_unit_test(exit_codes_follow_the_rule),
		cmocka_unit_test(X21_bad_cwd_is_an_error_that_names_the_path),
		cmocka_unit_test(too_long_a_command_is_an_error),
		cmocka_unit_test(X19_output_of_a_fast_command_is_complete),
		cmocka_unit_test(O4_output_beyond_the_cap_is_dropped_and_counted),
		cmocka_unit_test(a_stream_nobody_acknowledges_stalls_only_its_command),
		cmocka_unit_test(X14_large_stdin_arrives_whole_and_its_end_is_seen),
		cmocka_unit_test(a_reader_that_closes_stdin_is_told_about),
		cmocka_unit_test(cancel_ends_everything_of_it),
		cmocka_unit_test(lost_stream_kills_unless_detached),
		cmocka_unit_test(one_id_one_exec),
		cmocka_unit_test(P10_memory_bomb_dies_alone_and_is_reported),
		cmocka_unit_test(cpu_time_counts_children),
		cmocka_unit_test(many_at_once_and_no_leaf_stays),
		cmocka_unit_test(P11_orphans_are_reaped),
		cmocka_unit_test(named_namespaces_and_mounts_are_out_of_reach),
		cmocka_unit_test(insiders_cannot_talk_to_the_agent),
		cmocka_unit_test(sudo_works_without_dangerous_capabilities),
		cmocka_unit_test(malformed_frames_end_the_connection_and_nothing_else),
		cmocka_unit_test(malformed_messages_end_in_an_error_on_their_channel),
	};

	return run_with_client(tests, 0);
}
