/* SPDX-License-Identifier: Apache-2.0
 *
 * pty_test.c - commands on a terminal: input, size, signals, hang-up, broken connections.
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

/* Begins `sh -c script` on a terminal; NULL: the login shell. */
static uint32_t start(struct client *c, const char *id, const char *script)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_str argv[3];
	struct inis_pty m = {.rows = 24, .cols = 80, .exec = client_sh(script ? script : "", argv)};
	uint32_t channel = client_channel(c);
	struct inis_frame f;

	m.exec.id = str(id);
	if (!script)
		m.exec.argc = 0;
	inis_pty_pack(&b, &m);
	client_send_buf(c, channel, INIS_F_PTY_START, &b);
	client_expect(c, channel, INIS_F_STARTED, &f);
	return channel;
}

/* Gathers output until it holds the text; other frames are passed over. */
static void read_until(struct client *c, struct inis_buf *out, const char *text)
{
	struct inis_frame f;
	struct inis_unpack u;

	while (!out->len || !strstr(inis_buf_cstr(out), text)) {
		assert_true(client_next(c, &f));
		if (f.type != INIS_F_OUT)
			continue;
		inis_unpack_init(&u, f.payload, f.length);
		assert_int_equal(inis_unpack_u64(&u), out->len);
		inis_buf_append(out, u.at, u.left);
	}
}

static int finish(struct client *c, uint32_t channel)
{
	struct inis_exited e;
	struct inis_frame f;

	do
		assert_true(client_next(c, &f));
	while (f.type != INIS_F_EXITED);
	assert_int_equal(inis_exited_unpack(f.payload, f.length, &e), 0);
	client_release(c, channel);
	return e.exit_code;
}

static void send_signal(struct client *c, uint32_t channel, uint32_t signo)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u32(&b, signo);
	client_send_buf(c, channel, INIS_F_PTY_SIGNAL, &b);
}

static void send_size(struct client *c, uint32_t channel, uint16_t rows, uint16_t cols)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u16(&b, rows);
	inis_pack_u16(&b, cols);
	client_send_buf(c, channel, INIS_F_PTY_RESIZE, &b);
}

/* Nothing but the agent is left, and nothing of the terminals in it. */
static void expect_nothing_left(struct client *c)
{
	struct outcome o;

	for (int i = 0; unit_guests(&unit) > 0 && i < 600; i++)
		usleep(50000);
	assert_int_equal(unit_guests(&unit), 0);
	client_run(c, "ls /dev/pts; ls /proc/self/fd | wc -l", &o);
	assert_string_equal(outcome_out(&o), "ptmx\n4\n");
	outcome_free(&o);
}

static void input_comes_back_and_size_and_signals_arrive(void **state)
{
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0);
	struct client c;
	uint32_t channel;

	(void)state;
	client_start(&c, &unit);
	channel = start(&c, "one",
			"trap 'stty size' WINCH; trap 'echo int; exit 3' INT; read x; echo got $x; "
			"while :; do sleep 0.02; done");
	client_send_stream(&c, channel, 0, 0, "word\n", 5);
	read_until(&c, &out, "word\r\ngot word\r\n");
	send_size(&c, channel, 50, 120);
	read_until(&c, &out, "50 120\r\n");
	send_signal(&c, channel, 2);
	read_until(&c, &out, "int\r\n");
	assert_int_equal(finish(&c, channel), 3);
	expect_nothing_left(&c);
	client_close(&c);
}

static void a_shell_is_there_when_none_is_named(void **state)
{
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0);
	struct client c;
	uint32_t channel;

	(void)state;
	client_start(&c, &unit);
	channel = start(&c, "shell", NULL);
	client_send_stream(&c, channel, 0, 0, "echo he''re; exit 4\n", 20);
	read_until(&c, &out, "here\r\n");
	assert_int_equal(finish(&c, channel), 4);
	expect_nothing_left(&c);
	client_close(&c);
}

static void a_hang_up_ends_all_and_kill_too(void **state)
{
	static const uint8_t grace[4] = {200, 0, 0, 0};
	static const char script[] = "trap '' HUP TERM INT; (setsid sleep 700 &); echo up; while :; do sleep 1; done";
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0), again = INIS_BUF_INIT(0);
	struct client c;
	uint32_t channel;

	(void)state;
	client_start(&c, &unit);
	channel = start(&c, "stubborn", script);
	read_until(&c, &out, "up\r\n");
	client_send(&c, channel, INIS_F_CANCEL, 0, grace, sizeof(grace));
	assert_int_equal(finish(&c, channel), 137);
	expect_nothing_left(&c);
	channel = start(&c, "stubborn", script);
	read_until(&c, &again, "up\r\n");
	send_signal(&c, channel, 9);
	assert_int_equal(finish(&c, channel), 137);
	expect_nothing_left(&c);
	channel = start(&c, "released", script);
	client_release(&c, channel);
	expect_nothing_left(&c);
	client_close(&c);
}

static void reconnect(struct client *c, struct inis_reconnect *entry, uint32_t n)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_frame f;

	client_open(c, &unit);
	entry->channel = client_channel(c);
	inis_reconnect_pack(&b, entry, n);
	client_send_buf(c, 0, INIS_F_RECONNECT, &b);
	client_expect(c, 0, INIS_F_RECONNECTED, &f);
	assert_int_equal(inis_reconnect_unpack(f.payload, f.length, entry, n), n);
}

static void a_terminal_goes_on_over_broken_connections(void **state)
{
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0);
	struct inis_reconnect entry = {.id = "resumed"};
	struct client c;
	uint32_t channel;

	(void)state;
	client_start(&c, &unit);
	channel = start(&c, "resumed", "stty -echo; echo up; while read x; do echo [$x]; done; exit 6");
	read_until(&c, &out, "up\r\n");
	for (uint64_t i = 0; i < 20; i++) {
		char word[16], answer[16];

		snprintf(word, sizeof(word), "w%02u\n", (unsigned)i);
		snprintf(answer, sizeof(answer), "[w%02u]\r\n", (unsigned)i);
		client_send_stream(&c, channel, 0, i * 4, word, 4);
		/* Sometimes the answer is on its way when the connection breaks. */
		if (i % 2)
			read_until(&c, &out, answer);
		else
			client_ack(&c, channel, out.len, 0);
		if (i % 2 == 0)
			read_until(&c, &out, answer);
		client_close(&c);
		entry.out_have = out.len;
		reconnect(&c, &entry, 1);
		assert_int_equal(entry.state, INIS_RESUME_GOES_ON);
		channel = entry.channel;
	}
	client_send_stream(&c, channel, 0, 80, "\x04", 1);
	assert_int_equal(finish(&c, channel), 6);
	client_close(&c);
}

static void one_that_nobody_names_is_hung_up(void **state)
{
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0);
	struct client c;

	(void)state;
	client_start(&c, &unit);
	start(&c, "lost", "echo up; sleep 701");
	read_until(&c, &out, "up\r\n");
	client_close(&c);
	client_start(&c, &unit);
	expect_nothing_left(&c);
	client_close(&c);
}

static void what_makes_no_sense_is_an_error(void **state)
{
	struct inis_frame f;
	struct client c;
	uint32_t channel;

	(void)state;
	client_start(&c, &unit);
	channel = client_channel(&c);
	client_send(&c, channel, INIS_F_PTY_START, 0, "x", 1);
	client_expect_error(&c, channel, INIS_BAD_REQUEST, "malformed message");
	for (uint32_t signo = 0; signo < 200; signo += 199) {
		channel = start(&c, "signalled", "sleep 702");
		send_signal(&c, channel, signo);
		client_expect_error(&c, channel, INIS_BAD_REQUEST, "malformed message");
		expect_nothing_left(&c);
	}
	channel = start(&c, "resized", "sleep 702");
	client_send(&c, channel, INIS_F_PTY_RESIZE, 0, "123", 3);
	client_expect_error(&c, channel, INIS_BAD_REQUEST, "malformed message");
	/* A command without a terminal has no size. */
	{
		struct inis_str argv[3];
		struct inis_exec m = client_sh("sleep 702", argv);

		channel = client_exec_start(&c, &m);
		client_expect(&c, channel, INIS_F_STARTED, &f);
		send_size(&c, channel, 1, 1);
		client_expect_error(&c, channel, INIS_BAD_REQUEST, "malformed message");
	}
	expect_nothing_left(&c);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(input_comes_back_and_size_and_signals_arrive),
		cmocka_unit_test(a_shell_is_there_when_none_is_named),
		cmocka_unit_test(a_hang_up_ends_all_and_kill_too),
		cmocka_unit_test(a_terminal_goes_on_over_broken_connections),
		cmocka_unit_test(one_that_nobody_names_is_hung_up),
		cmocka_unit_test(what_makes_no_sense_is_an_error),
	};

	return run_in_unit(tests, 0);
}
