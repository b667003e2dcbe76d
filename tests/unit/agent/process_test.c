/* SPDX-License-Identifier: Apache-2.0
 *
 * process_test.c - named processes in a real unit: table, logs, followers, stdin, kill.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "client.h"

static struct inis_proc_info expect_info(uint32_t channel)
{
	static struct inis_proc_info info;
	struct inis_frame f;

	inis_proc_info_free(&info);
	client_expect(&client, channel, INIS_F_PROC_INFO, &f);
	assert_int_equal(inis_proc_info_unpack(f.payload, f.length, &info), 0);
	return info;
}

static uint32_t send_start(const char *name, const char *script, struct inis_exec *extra)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_str argv[3];
	struct inis_exec m = client_sh(script, argv);
	uint32_t channel = client_channel(&client);

	if (extra) {
		m.stdin_mode = extra->stdin_mode;
		m.timeout_ms = extra->timeout_ms;
		m.flags = extra->flags;
	}
	m.id = str(name);
	inis_exec_pack(&b, &m);
	client_send_buf(&client, channel, INIS_F_PROC_START, &b);
	return channel;
}

static struct inis_proc_info start(const char *name, const char *script)
{
	return expect_info(send_start(name, script, NULL));
}

static uint32_t send_name(enum inis_frame_type type, const char *name)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	uint32_t channel = client_channel(&client);

	inis_pack_cstr(&b, name);
	client_send_buf(&client, channel, type, &b);
	return channel;
}

static struct inis_proc_info get(const char *name)
{
	return expect_info(send_name(INIS_F_PROC_GET, name));
}

static struct inis_proc_info wait_exit(const char *name)
{
	struct inis_proc_info info = get(name);

	for (int i = 0; i < 1000 && info.running; i++) {
		usleep(20000);
		info = get(name);
	}
	assert_false(info.running);
	return info;
}

static uint32_t send_kill(const char *name, uint32_t grace_ms)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	uint32_t channel = client_channel(&client);

	inis_pack_cstr(&b, name);
	inis_pack_u32(&b, grace_ms);
	client_send_buf(&client, channel, INIS_F_PROC_KILL, &b);
	return channel;
}

static struct inis_proc_info kill_it(const char *name, uint32_t grace_ms)
{
	return expect_info(send_kill(name, grace_ms));
}

struct log {
	struct inis_buf out;
	struct inis_buf err;
	uint64_t out_first;
	uint64_t err_first;
	uint8_t cut; /* LOGS_INFO said so */
	uint32_t end_flags;
};

static void log_free(struct log *l)
{
	inis_buf_free(&l->out);
	inis_buf_free(&l->err);
}

static uint32_t send_logs(const char *name, struct inis_logs m)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	uint32_t channel = client_channel(&client);

	m.name = str(name);
	inis_logs_pack(&b, &m);
	client_send_buf(&client, channel, INIS_F_PROC_LOGS, &b);
	return channel;
}

static void begin_log(uint32_t channel, struct log *l)
{
	struct inis_frame f;
	struct inis_unpack u;

	*l = (struct log){0};
	client_expect(&client, channel, INIS_F_LOGS_INFO, &f);
	inis_unpack_init(&u, f.payload, f.length);
	l->out_first = inis_unpack_u64(&u);
	l->err_first = inis_unpack_u64(&u);
	l->cut = inis_unpack_u8(&u);
	assert_true(inis_unpack_ok(&u));
}

/* false at the END. */
static bool log_frame(uint32_t channel, struct log *l)
{
	struct inis_frame f;
	struct inis_unpack u;

	assert_true(client_next(&client, &f));
	assert_int_equal(f.channel, channel);
	if (f.type == INIS_F_END) {
		inis_unpack_init(&u, f.payload, f.length);
		l->end_flags = inis_unpack_u32(&u);
		return false;
	}
	assert_true(f.type == INIS_F_OUT || f.type == INIS_F_ERR);
	if (f.type == INIS_F_OUT)
		client_take(&l->out, l->out_first, &f);
	else
		client_take(&l->err, l->err_first, &f);
	client_ack(&client, channel, l->out_first + l->out.len, l->err_first + l->err.len);
	return true;
}

static void read_log(const char *name, struct inis_logs m, struct log *l)
{
	uint32_t channel = send_logs(name, m);

	begin_log(channel, l);
	while (log_frame(channel, l))
		;
}

static void start_get_and_exit(void **state)
{
	struct inis_proc_info info = start("simple", "echo out; echo err >&2; exit 3");
	struct log l;

	(void)state;
	assert_int_equal(info.argc, 3);
	assert_true(inis_str_eq(info.argv[0], "sh"));
	assert_true(inis_str_eq(info.name, "simple"));
	info = wait_exit("simple");
	assert_int_equal(info.exit.exit_code, 3);
	assert_true(info.started_wall_ms > 0 && info.ended_wall_ms >= info.started_wall_ms);
	read_log("simple", (struct inis_logs){0}, &l);
	assert_string_equal(inis_buf_cstr(&l.out), "out\n");
	assert_string_equal(inis_buf_cstr(&l.err), "err\n");
	log_free(&l);
	client_expect_error(&client, send_name(INIS_F_PROC_GET, "other"), INIS_NOT_FOUND,
			    "process \"other\" not found");
	client_expect_error(&client, send_kill("other", 0), INIS_NOT_FOUND, "not found");
	client_expect_error(&client, send_logs("other", (struct inis_logs){0}), INIS_NOT_FOUND, "not found");
	client_expect_error(&client, send_start("a b", "true", NULL), INIS_BAD_REQUEST, "name");
}

static void a_program_that_cannot_be_run_is_told_in_the_log(void **state)
{
	struct inis_proc_info info;
	struct log l;

	(void)state;
	start("bad", "exec no-such-program");
	info = wait_exit("bad");
	assert_int_equal(info.exit.exit_code, 127);
	read_log("bad", (struct inis_logs){.follow = 1}, &l);
	assert_non_null(strstr(inis_buf_cstr(&l.err), "not found"));
	log_free(&l);
}

static void a_name_is_taken_while_it_runs_and_free_after(void **state)
{
	struct log l;

	(void)state;
	start("again", "echo first; sleep 300");
	client_expect_error(&client, send_start("again", "true", NULL), INIS_CONFLICT, "already running");
	kill_it("again", 1000);
	start("again", "echo second");
	wait_exit("again");
	read_log("again", (struct inis_logs){0}, &l);
	assert_string_equal(inis_buf_cstr(&l.out), "second\n");
	assert_int_equal(l.out_first, 0);
	log_free(&l);
}

static void P1_processes_do_not_depend_on_a_connection(void **state)
{
	struct inis_proc_info info;

	(void)state;
	start("lasting", "echo here; sleep 300");
	client_close(&client);
	client_start(&client, &unit);
	info = get("lasting");
	assert_true(info.running);
	info = kill_it("lasting", 5000);
	assert_int_equal(info.exit.exit_code, 143);
	assert_int_equal(info.exit.flags & (INIS_EXIT_KILLED | INIS_EXIT_KILLED_NOW),
			 INIS_EXIT_KILLED | INIS_EXIT_KILLED_NOW);
}

static void kill_answers_when_all_of_it_is_gone(void **state)
{
	struct inis_proc_info info;
	struct outcome o;

	(void)state;
	start("stubborn", "trap '' TERM; (trap '' TERM; setsid sleep 301 &) ; >/tmp/deaf; while :; do sleep 1; done");
	client_run(&client, "until test -e /tmp/deaf && pgrep -fx 'sleep 301'; do sleep 0.05; done", &o);
	outcome_free(&o);
	info = kill_it("stubborn", 300);
	assert_false(info.running);
	assert_int_equal(info.exit.exit_code, 137);
	client_run(&client, "pgrep -f '[s]leep 301'", &o);
	assert_string_equal(outcome_out(&o), "");
	outcome_free(&o);
	/* Once more: nothing to do, and it says that it did nothing. */
	info = kill_it("stubborn", 0);
	assert_false(info.exit.flags & INIS_EXIT_KILLED_NOW);
	assert_true(info.exit.flags & INIS_EXIT_KILLED);
}

static void of_many_kills_one_did_it(void **state)
{
	uint32_t first;
	unsigned did = 0;

	(void)state;
	start("popular", "exec sleep 300");
	first = send_kill("popular", 5000);
	for (unsigned i = 1; i < 5; i++)
		send_kill("popular", 5000);
	for (unsigned i = 0; i < 5; i++)
		did += (expect_info(first + i).exit.flags & INIS_EXIT_KILLED_NOW) != 0;
	assert_int_equal(did, 1);
}

static void timeout_ends_it(void **state)
{
	struct inis_exec extra = {.timeout_ms = 300, .flags = INIS_EXEC_KEEP_ALIVE};
	struct inis_proc_info info = expect_info(send_start("limited", "echo x; sleep 300", &extra));

	(void)state;
	assert_true(info.exit.flags & INIS_EXIT_KEEP_ALIVE);
	info = wait_exit("limited");
	assert_int_equal(info.exit.exit_code, 124);
	assert_true(info.exit.flags & INIS_EXIT_TIMED_OUT);
}

static void list_shows_running_and_exited(void **state)
{
	uint32_t channel = client_channel(&client);
	unsigned running = 0, exited = 0;
	struct inis_frame f;

	(void)state;
	start("listed", "sleep 300");
	client_send(&client, channel, INIS_F_PROC_LIST, 0, NULL, 0);
	for (;;) {
		struct inis_proc_info info;

		assert_true(client_next(&client, &f));
		assert_int_equal(f.channel, channel);
		if (f.type == INIS_F_END)
			break;
		assert_int_equal(inis_proc_info_unpack(f.payload, f.length, &info), 0);
		if (info.running)
			running++;
		else
			exited++;
		inis_proc_info_free(&info);
	}
	assert_int_equal(running, 1);
	assert_true(exited >= 3);
	kill_it("listed", 0);
}

static void O10_replay_and_live_meet_without_gap_or_double(void **state)
{
	struct inis_buf all = INIS_BUF_INIT(0);
	struct log l;
	const char *at;
	bool more = true;

	(void)state;
	start("counter", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i; done");
	/* Come back fifty times to where it was, then stay. */
	for (unsigned round = 0; more; round++) {
		uint32_t channel = send_logs("counter", (struct inis_logs){.follow = 1, .out_from = all.len});
		unsigned frames = 0;

		begin_log(channel, &l);
		assert_int_equal(l.out_first, all.len);
		while ((more = log_frame(channel, &l)) && (round >= 50 || ++frames < 3))
			;
		inis_buf_append(&all, l.out.data, l.out.len);
		log_free(&l);
		if (more) {
			client_close(&client);
			client_start(&client, &unit);
		}
	}
	assert_false(get("counter").running);
	at = inis_buf_cstr(&all);
	for (unsigned i = 1; i <= 20000; i++) {
		unsigned value = 0;
		int n = 0;

		assert_int_equal(sscanf(at, "%u\n%n", &value, &n), 1);
		assert_int_equal(value, i);
		at += n;
	}
	inis_buf_free(&all);
}

static void many_followers_get_the_same(void **state)
{
	uint32_t channels[20];
	uint64_t got[20] = {0};
	unsigned ended = 0, first = client.last_channel + 2;
	struct inis_frame f;

	(void)state;
	start("busy", "sleep 0.3; seq 50000");
	for (unsigned i = 0; i < 20; i++)
		channels[i] = send_logs("busy", (struct inis_logs){.follow = 1});
	assert_int_equal(channels[0], first);
	while (ended < 20) {
		unsigned who;

		assert_true(client_next(&client, &f));
		who = f.channel - first;
		assert_true(who < 20);
		if (f.type == INIS_F_OUT) {
			got[who] += f.length - 8;
			client_ack(&client, f.channel, got[who], 0);
		}
		ended += f.type == INIS_F_END;
	}
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(got[i], got[0]);
	assert_int_equal(got[0], 288894);
}

static void the_end_of_a_log_comes_after_the_exit_is_visible(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct log l;

		start("quick", "echo x");
		read_log("quick", (struct inis_logs){.follow = 1}, &l);
		assert_false(get("quick").running);
		assert_string_equal(inis_buf_cstr(&l.out), "x\n");
		log_free(&l);
	}
}

static void O8_a_process_never_waits_for_a_reader(void **state)
{
	struct inis_proc_info info;
	struct log l;

	(void)state;
	start("loud", "head -c 50000000 /dev/zero | tr '\\0' x; echo end");
	info = wait_exit("loud");
	assert_int_equal(info.exit.exit_code, 0);
	assert_int_equal(info.exit.out_total, 50000004);
	/* O11: what is too old is said to be missing. */
	read_log("loud", (struct inis_logs){.out_from = 17}, &l);
	assert_true(l.cut);
	assert_true(l.out.len >= 4 << 20);
	assert_int_equal(l.out_first + l.out.len, 50000004);
	assert_memory_equal(l.out.data + l.out.len - 5, "xend\n", 5);
	log_free(&l);
	read_log("loud", (struct inis_logs){.tail_max = 10}, &l);
	assert_true(l.cut);
	assert_string_equal(inis_buf_cstr(&l.out), "xxxxxxend\n");
	log_free(&l);
	read_log("loud", (struct inis_logs){.out_from = 50000000}, &l);
	assert_false(l.cut);
	assert_string_equal(inis_buf_cstr(&l.out), "end\n");
	log_free(&l);
}

static uint32_t open_stdin(const char *name)
{
	uint32_t channel = send_name(INIS_F_PROC_STDIN, name);
	struct inis_frame f;

	client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
	return channel;
}

static void write_stdin(uint32_t channel, uint64_t offset, const char *text)
{
	struct inis_frame f;

	client_send_stream(&client, channel, 0, offset, text, strlen(text));
	client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
	assert_int_equal(f.payload[0], offset + strlen(text));
}

static void stdin_is_written_in_order_and_closed(void **state)
{
	struct inis_exec extra = {.stdin_mode = INIS_STDIN_PIPE};
	struct inis_frame f;
	struct log l;
	uint32_t first, second;

	(void)state;
	assert_true(expect_info(send_start("reader", "cat", &extra)).exit.flags & INIS_EXIT_STDIN_OPEN);
	first = open_stdin("reader");
	write_stdin(first, 0, "one ");
	second = open_stdin("reader");
	/* The second waits until the first is done. */
	client_send_stream(&client, second, INIS_FRAME_EOF, 0, "three", 5);
	write_stdin(first, 4, "two ");
	client_release(&client, first);
	client_expect(&client, second, INIS_F_STDIN_ACK, &f);
	client_expect(&client, second, INIS_F_END, &f);
	wait_exit("reader");
	read_log("reader", (struct inis_logs){0}, &l);
	assert_string_equal(inis_buf_cstr(&l.out), "one two three");
	log_free(&l);
	client_expect_error(&client, send_name(INIS_F_PROC_STDIN, "reader"), INIS_CONFLICT, "exited");
}

static void stdin_that_is_not_there_is_a_conflict(void **state)
{
	struct inis_exec extra = {.stdin_mode = INIS_STDIN_PIPE};
	struct inis_frame f;
	uint32_t channel;

	(void)state;
	start("deaf", "cat; sleep 300");
	client_expect_error(&client, send_name(INIS_F_PROC_STDIN, "deaf"), INIS_CONFLICT, "without stdin");
	kill_it("deaf", 0);
	expect_info(send_start("closing", "cat; sleep 300", &extra));
	channel = open_stdin("closing");
	client_send_stream(&client, channel, INIS_FRAME_EOF, 0, NULL, 0);
	client_expect(&client, channel, INIS_F_END, &f);
	client_expect_error(&client, send_name(INIS_F_PROC_STDIN, "closing"), INIS_CONFLICT, "closed");
	assert_false(get("closing").exit.flags & INIS_EXIT_STDIN_OPEN);
	kill_it("closing", 0);
}

static void a_reader_that_does_not_read_holds_only_its_writer(void **state)
{
	static char data[200000];
	struct inis_exec extra = {.stdin_mode = INIS_STDIN_PIPE};
	struct inis_frame f;
	uint32_t channel, request;
	uint64_t taken = 0;
	struct inis_unpack u;

	(void)state;
	memset(data, 'x', sizeof(data));
	expect_info(send_start("idle", "sleep 300", &extra));
	channel = open_stdin("idle");
	for (uint64_t at = 0; at < sizeof(data); at += 50000)
		client_send_stream(&client, channel, 0, at, data + at, 50000);
	/* As much as the pipe holds is taken; others are answered meanwhile. */
	request = send_name(INIS_F_PROC_GET, "idle");
	do {
		assert_true(client_next(&client, &f));
		inis_unpack_init(&u, f.payload, f.length);
		if (f.type == INIS_F_STDIN_ACK)
			taken = inis_unpack_u64(&u);
	} while (f.channel != request || taken < 50000);
	assert_int_equal(f.type, INIS_F_PROC_INFO);
	assert_true(taken <= 65536);
	send_kill("idle", 0);
	client_expect_error(&client, channel, INIS_CONFLICT, "");
	expect_info(client.last_channel);
}

static void sixty_four_may_run(void **state)
{
	char name[16];

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		start(name, "exec sleep 300");
	}
	client_expect_error(&client, send_start("n64", "true", NULL), INIS_CONFLICT, "64");
	for (unsigned i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		kill_it(name, 0);
	}
	start("n64", "true");
	wait_exit("n64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_get_and_exit),
		cmocka_unit_test(a_program_that_cannot_be_run_is_told_in_the_log),
		cmocka_unit_test(a_name_is_taken_while_it_runs_and_free_after),
		cmocka_unit_test(P1_processes_do_not_depend_on_a_connection),
		cmocka_unit_test(kill_answers_when_all_of_it_is_gone),
		cmocka_unit_test(of_many_kills_one_did_it),
		cmocka_unit_test(timeout_ends_it),
		cmocka_unit_test(list_shows_running_and_exited),
		cmocka_unit_test(O10_replay_and_live_meet_without_gap_or_double),
		cmocka_unit_test(many_followers_get_the_same),
		cmocka_unit_test(the_end_of_a_log_comes_after_the_exit_is_visible),
		cmocka_unit_test(O8_a_process_never_waits_for_a_reader),
		cmocka_unit_test(stdin_is_written_in_order_and_closed),
		cmocka_unit_test(stdin_that_is_not_there_is_a_conflict),
		cmocka_unit_test(a_reader_that_does_not_read_holds_only_its_writer),
		cmocka_unit_test(sixty_four_may_run),
	};

	return run_with_client(tests, 0);
}
