/* SPDX-License-Identifier: Apache-2.0
 *
 * pty_name_test.c - named terminals: owners that come, go, break off and are taken over from; what each is shown.
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
#include "wire/tape.h"

/* What an owner has been shown, with sizes as [rows x cols]. */
struct shown {
	struct inis_pty_info info;
	char modes[INIS_PTY_MODES_MAX + 1];
	uint64_t at; /* offset of the tape */
	struct inis_tape_reader tape;
	struct inis_buf text;
};

static void shown_free(struct shown *s)
{
	inis_buf_free(&s->text);
}

static void take_info(struct shown *s, const struct inis_frame *f)
{
	assert_int_equal(inis_pty_info_unpack(f->payload, f->length, &s->info), 0);
	memcpy(s->modes, s->info.modes.s, s->info.modes.len);
	s->modes[s->info.modes.len] = '\0';
	s->at = s->info.first;
}

static void take_tape(struct shown *s, const uint8_t *data, size_t n)
{
	while (n > 0) {
		struct inis_tape_item item;
		size_t used;
		int got = inis_tape_read(&s->tape, data, n, &used, &item);

		assert_true(got >= 0);
		if (got == 1 && item.type == INIS_TAPE_SIZE)
			inis_buf_printf(&s->text, "[%ux%u]", item.rows, item.cols);
		else if (got == 1)
			inis_buf_append(&s->text, item.data, item.n);
		data += used;
		n -= used;
	}
}

static void take_out(struct shown *s, const struct inis_frame *f)
{
	struct inis_unpack u;

	inis_unpack_init(&u, f->payload, f->length);
	assert_int_equal(inis_unpack_u64(&u), s->at);
	s->at += u.left;
	take_tape(s, u.at, u.left);
}

static uint32_t ask(struct client *c, const char *name, uint16_t rows, uint16_t cols, const char *script)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_str argv[3];
	struct inis_attach m = {.name = str(name),
				.pty = {.rows = rows, .cols = cols, .exec = client_sh(script ? script : "", argv)}};
	uint32_t channel = client_channel(c);
	char id[24];

	snprintf(id, sizeof(id), "owner-%u", channel);
	m.pty.exec.id = str(id);
	inis_attach_pack(&b, &m);
	client_send_buf(c, channel, INIS_F_PTY_ATTACH, &b);
	return channel;
}

/* Attaches; whatever other channels say meanwhile must be their being taken over. */
static uint32_t attach(struct client *c, const char *name, uint16_t rows, uint16_t cols, const char *script,
		       struct shown *s)
{
	uint32_t channel = ask(c, name, rows, cols, script);
	struct inis_frame f;

	*s = (struct shown){.at = 0};
	do
		assert_true(client_next(c, &f));
	while (f.channel != channel);
	assert_int_equal(f.type, INIS_F_STARTED);
	client_expect(c, channel, INIS_F_PTY_INFO, &f);
	take_info(s, &f);
	return channel;
}

static void read_until(struct client *c, uint32_t channel, struct shown *s, const char *text)
{
	struct inis_frame f;

	while (!s->text.len || !strstr(inis_buf_cstr(&s->text), text)) {
		assert_true(client_next(c, &f));
		if (f.channel != channel || f.type == INIS_F_STDIN_ACK)
			continue;
		assert_int_equal(f.type, INIS_F_OUT);
		take_out(s, &f);
		client_ack(c, channel, s->at, 0);
	}
}

static int finish(struct client *c, uint32_t channel)
{
	struct inis_exited e;
	struct inis_frame f;

	do
		assert_true(client_next(c, &f));
	while (f.channel != channel || f.type != INIS_F_EXITED);
	assert_int_equal(inis_exited_unpack(f.payload, f.length, &e), 0);
	client_release(c, channel);
	return e.exit_code;
}

static void type(struct client *c, uint32_t channel, uint64_t at, const char *text)
{
	client_send_stream(c, channel, 0, at, text, strlen(text));
}

static void resize(struct client *c, uint32_t channel, uint16_t rows, uint16_t cols)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u16(&b, rows);
	inis_pack_u16(&b, cols);
	client_send_buf(c, channel, INIS_F_PTY_RESIZE, &b);
}

static uint32_t ask_kill(struct client *c, const char *name, uint32_t grace)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	uint32_t channel = client_channel(c);

	inis_pack_cstr(&b, name);
	inis_pack_u32(&b, grace);
	client_send_buf(c, channel, INIS_F_PTY_KILL, &b);
	return channel;
}

static void kill_it(struct client *c, const char *name)
{
	uint32_t channel = ask_kill(c, name, 200);
	struct inis_frame f;

	do
		assert_true(client_next(c, &f));
	while (f.channel != channel);
	assert_int_equal(f.type, INIS_F_END);
}

static void expect_nothing_left(struct client *c)
{
	struct outcome o;

	for (int i = 0; unit_guests(&unit) > 0 && i < 600; i++)
		usleep(50000);
	assert_int_equal(unit_guests(&unit), 0);
	client_run(c, "ls /dev/pts", &o);
	assert_string_equal(outcome_out(&o), "ptmx\n");
	outcome_free(&o);
}

static const char ECHO[] = "stty -echo; echo up; while read x; do echo [$x]; done; exit 6";

static void one_that_is_left_runs_on_and_shows_all_again(void **state)
{
	struct client c;
	struct shown s;
	uint32_t channel;

	(void)state;
	client_start(&c, &unit);
	channel = attach(&c, "main", 24, 80, ECHO, &s);
	assert_int_equal(s.info.flags, INIS_PTY_STARTED);
	assert_int_equal(s.info.live, 0);
	read_until(&c, channel, &s, "up\r\n");
	type(&c, channel, 0, "one\n");
	read_until(&c, channel, &s, "[one]\r\n");
	client_release(&c, channel);
	shown_free(&s);
	client_close(&c);
	/* Another connection: nothing of it is named. */
	client_start(&c, &unit);
	channel = attach(&c, "main", 24, 80, "echo not run", &s);
	assert_int_equal(s.info.flags, 0);
	assert_true(s.info.live > 0);
	read_until(&c, channel, &s, "up\r\n[one]\r\n");
	type(&c, channel, 0, "two\n\x04");
	read_until(&c, channel, &s, "up\r\n[one]\r\n[two]\r\n");
	assert_int_equal(finish(&c, channel), 6);
	shown_free(&s);
	expect_nothing_left(&c);
	client_close(&c);
}

static void the_next_takes_over_and_the_size_is_his(void **state)
{
	struct shown first, second, third;
	struct client c;
	uint32_t a, b;

	(void)state;
	client_start(&c, &unit);
	a = attach(&c, "main", 24, 80, "trap 'stty size' WINCH; stty size; while :; do sleep 0.02; done", &first);
	read_until(&c, a, &first, "24 80\r\n");
	b = ask(&c, "main", 30, 90, NULL);
	client_expect_error(&c, a, INIS_CONFLICT, "taken");
	{
		struct inis_frame f;

		second = (struct shown){.at = 0};
		client_expect(&c, b, INIS_F_STARTED, &f);
		client_expect(&c, b, INIS_F_PTY_INFO, &f);
		take_info(&second, &f);
	}
	assert_int_equal(second.info.rows, 24);
	read_until(&c, b, &second, "24 80\r\n[30x90]30 90\r\n");
	/* The one before has nothing to say any more. */
	resize(&c, a, 40, 40);
	type(&c, a, 0, "lost\n");
	resize(&c, b, 50, 132);
	read_until(&c, b, &second, "[50x132]50 132\r\n");
	assert_null(strstr((char *)second.text.data, "40"));
	/* Without a size of his own he takes it as it is. */
	a = attach(&c, "main", 0, 0, NULL, &third);
	read_until(&c, a, &third, "24 80\r\n[30x90]30 90\r\n[50x132]50 132\r\n");
	kill_it(&c, "main");
	shown_free(&first);
	shown_free(&second);
	shown_free(&third);
	client_release(&c, a);
	expect_nothing_left(&c);
	client_close(&c);
}

static void an_owner_resumes_over_broken_connections(void **state)
{
	struct inis_reconnect entry = {.id = ""};
	struct client c;
	struct shown s;
	uint32_t channel;

	(void)state;
	client_start(&c, &unit);
	channel = attach(&c, "main", 24, 80, ECHO, &s);
	snprintf(entry.id, sizeof(entry.id), "owner-%u", channel);
	read_until(&c, channel, &s, "up\r\n");
	for (uint64_t i = 0; i < 20; i++) {
		cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
		char word[16], answer[16];
		struct inis_frame f;

		snprintf(word, sizeof(word), "w%02u\n", (unsigned)i);
		snprintf(answer, sizeof(answer), "[w%02u]\r\n", (unsigned)i);
		type(&c, channel, i * 4, word);
		if (i % 2)
			read_until(&c, channel, &s, answer);
		/* The input must have come, its answer may be on the way. */
		do
			assert_true(i % 2 || client_next(&c, &f));
		while (i % 2 == 0 && f.type != INIS_F_STDIN_ACK);
		client_close(&c);
		client_open(&c, &unit);
		entry.channel = channel = client_channel(&c);
		entry.out_have = s.at;
		inis_reconnect_pack(&b, &entry, 1);
		client_send_buf(&c, 0, INIS_F_RECONNECT, &b);
		client_expect(&c, 0, INIS_F_RECONNECTED, &f);
		assert_int_equal(inis_reconnect_unpack(f.payload, f.length, &entry, 1), 1);
		assert_int_equal(entry.state, INIS_RESUME_GOES_ON);
		client_expect(&c, channel, INIS_F_PTY_INFO, &f);
		read_until(&c, channel, &s, answer);
	}
	type(&c, channel, 80, "\x04");
	assert_int_equal(finish(&c, channel), 6);
	shown_free(&s);
	expect_nothing_left(&c);
	client_close(&c);
}

static void without_an_owner_nothing_waits_and_the_oldest_is_forgotten(void **state)
{
	static const char script[] =
		"stty -echo -onlcr; printf '\x1b[?1049h\x1b[?25l'; echo up; read x; "
		"trap ': >/workspace/nudged' WINCH; seq 1 400000; echo done; : >/workspace/filled; "
		"while :; do sleep 0.02; done";
	struct client c;
	struct shown s;
	struct outcome o;
	uint32_t channel;

	(void)state;
	client_start(&c, &unit);
	channel = attach(&c, "main", 24, 80, script, &s);
	read_until(&c, channel, &s, "up\n");
	type(&c, channel, 0, "go\n");
	client_release(&c, channel);
	shown_free(&s);
	/* It gets to its end though nobody reads. */
	client_run(&c, "while ! test -e /workspace/filled; do sleep 0.05; done", &o);
	outcome_free(&o);
	channel = attach(&c, "main", 24, 80, NULL, &s);
	assert_int_equal(s.info.flags, INIS_PTY_TRUNCATED);
	assert_true(s.info.first > 0);
	assert_true(s.info.live - s.info.first > 1000000 && s.info.live - s.info.first <= 1024 * 1024);
	assert_string_equal(s.modes, "\x1b[?1049h\x1b[?25l");
	/* It is nudged: another size for a moment, which it notices. */
	read_until(&c, channel, &s, "400000\ndone\n[23x80][24x80]");
	client_run(&c, "while ! test -e /workspace/nudged; do sleep 0.05; done", &o);
	outcome_free(&o);
	kill_it(&c, "main");
	client_release(&c, channel);
	shown_free(&s);
	expect_nothing_left(&c);
	client_close(&c);
}

static void an_owner_that_does_not_read_stops_the_program(void **state)
{
	struct client c;
	struct shown s, other;
	struct inis_frame f;
	uint32_t channel;
	size_t got = 0;

	(void)state;
	client_start(&c, &unit);
	channel = attach(&c, "main", 24, 80, "stty -onlcr; yes", &s);
	while (got < INIS_AGENT_WINDOW) {
		client_expect(&c, channel, INIS_F_OUT, &f);
		take_out(&s, &f);
		got += f.length - 8;
	}
	assert_int_equal(got, INIS_AGENT_WINDOW);
	/* The next has it all, nothing is missing. */
	channel = attach(&c, "main", 0, 0, NULL, &other);
	assert_int_equal(other.info.flags, 0);
	while (other.at < s.at) {
		client_expect(&c, channel, INIS_F_OUT, &f);
		take_out(&other, &f);
		client_ack(&c, channel, other.at, 0);
	}
	kill_it(&c, "main");
	client_release(&c, channel);
	shown_free(&s);
	shown_free(&other);
	expect_nothing_left(&c);
	client_close(&c);
}

static void they_are_listed_bounded_and_ended(void **state)
{
	struct client c;
	struct shown s;
	struct inis_frame f;
	uint32_t channel;
	char name[16];

	(void)state;
	client_start(&c, &unit);
	for (unsigned i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "t%02u", i);
		channel = attach(&c, name, 24, (uint16_t)(80 + i), "sleep 710", &s);
		shown_free(&s);
		if (i % 2)
			client_release(&c, channel);
	}
	channel = ask(&c, "more", 24, 80, "sleep 710");
	client_expect_error(&c, channel, INIS_CONFLICT, "at most 16");
	channel = client_channel(&c);
	client_send(&c, channel, INIS_F_PTY_LIST, 0, NULL, 0);
	for (unsigned i = 0; i < 16; i++) {
		struct inis_pty_entry e;

		snprintf(name, sizeof(name), "t%02u", i);
		client_expect(&c, channel, INIS_F_PTY_ENTRY, &f);
		assert_int_equal(inis_pty_entry_unpack(f.payload, f.length, &e), 0);
		assert_true(inis_str_eq(e.name, name));
		assert_int_equal(e.cols, 80 + i);
		assert_int_equal(e.attached, i % 2 == 0);
		assert_true(e.pid > 1 && e.started_wall_ms > 0);
		assert_int_equal(e.argc, 3);
		assert_true(inis_str_eq(e.argv[2], "sleep 710"));
		inis_pty_entry_free(&e);
	}
	client_expect(&c, channel, INIS_F_END, &f);
	client_close(&c);
	client_start(&c, &unit);
	for (unsigned i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "t%02u", i);
		kill_it(&c, name);
		channel = ask_kill(&c, name, 0);
		client_expect_error(&c, channel, INIS_NOT_FOUND, "no such terminal");
	}
	expect_nothing_left(&c);
	client_close(&c);
}

static void several_may_wait_for_an_end_and_one_that_is_stubborn_is_killed(void **state)
{
	struct client c;
	struct shown s;
	struct inis_frame f;
	uint32_t channel, one, two;

	(void)state;
	client_start(&c, &unit);
	channel = attach(&c, "main", 24, 80, "trap '' HUP TERM; echo up; while :; do sleep 1; done", &s);
	read_until(&c, channel, &s, "up\r\n");
	one = ask_kill(&c, "main", 60000);
	two = ask_kill(&c, "main", 100);
	client_expect(&c, one, INIS_F_END, &f);
	client_expect(&c, two, INIS_F_END, &f);
	assert_int_equal(finish(&c, channel), 137);
	shown_free(&s);
	expect_nothing_left(&c);
	client_close(&c);
}

static void an_end_waits_for_its_owner_and_the_name_is_free(void **state)
{
	struct client c;
	struct shown s, next;
	uint32_t channel, fresh;

	(void)state;
	client_start(&c, &unit);
	channel = attach(&c, "main", 24, 80, "exit 3", &s);
	assert_int_equal(finish(&c, channel), 3);
	shown_free(&s);
	channel = attach(&c, "main", 24, 80, "echo first; exit 4", &s);
	read_until(&c, channel, &s, "first\r\n");
	while (unit_guests(&unit) > 0)
		usleep(20000);
	fresh = attach(&c, "main", 24, 80, "echo second; exit 5", &next);
	assert_int_equal(next.info.flags, INIS_PTY_STARTED);
	assert_int_equal(finish(&c, fresh), 5);
	client_release(&c, channel);
	shown_free(&s);
	shown_free(&next);
	expect_nothing_left(&c);
	client_close(&c);
}

static void what_makes_no_sense_is_an_error_and_leaves_the_terminal_running(void **state)
{
	struct client c;
	struct shown s;
	uint32_t channel;

	(void)state;
	client_start(&c, &unit);
	channel = client_channel(&c);
	client_send(&c, channel, INIS_F_PTY_ATTACH, 0, "x", 1);
	client_expect_error(&c, channel, INIS_BAD_REQUEST, "malformed message");
	channel = ask(&c, "a/b", 24, 80, "true");
	client_expect_error(&c, channel, INIS_BAD_REQUEST, "name");
	channel = ask(&c, "..", 24, 80, "true");
	client_expect_error(&c, channel, INIS_BAD_REQUEST, "name");
	channel = client_channel(&c);
	client_send(&c, channel, INIS_F_PTY_LIST, 0, "x", 1);
	client_expect_error(&c, channel, INIS_BAD_REQUEST, "malformed message");
	channel = client_channel(&c);
	client_send(&c, channel, INIS_F_PTY_KILL, 0, "x", 1);
	client_expect_error(&c, channel, INIS_BAD_REQUEST, "malformed message");
	for (unsigned i = 0; i < 4; i++) {
		channel = attach(&c, "main", 24, 80, "sleep 711", &s);
		assert_int_equal(s.info.flags, i == 0 ? INIS_PTY_STARTED : 0);
		shown_free(&s);
		if (i == 0)
			resize(&c, channel, 0, 80);
		else if (i == 1)
			client_ack(&c, channel, 1 << 20, 0);
		else if (i == 2)
			client_send(&c, channel, INIS_F_PTY_SIGNAL, 0, "\0\0\0\0", 4);
		else
			client_send(&c, channel, INIS_F_CANCEL, 0, "\0\0\0\0", 4);
		client_expect_error(&c, channel, INIS_BAD_REQUEST, "malformed message");
	}
	kill_it(&c, "main");
	expect_nothing_left(&c);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_left_runs_on_and_shows_all_again),
		cmocka_unit_test(the_next_takes_over_and_the_size_is_his),
		cmocka_unit_test(an_owner_resumes_over_broken_connections),
		cmocka_unit_test(without_an_owner_nothing_waits_and_the_oldest_is_forgotten),
		cmocka_unit_test(an_owner_that_does_not_read_stops_the_program),
		cmocka_unit_test(they_are_listed_bounded_and_ended),
		cmocka_unit_test(several_may_wait_for_an_end_and_one_that_is_stubborn_is_killed),
		cmocka_unit_test(an_end_waits_for_its_owner_and_the_name_is_free),
		cmocka_unit_test(what_makes_no_sense_is_an_error_and_leaves_the_terminal_running),
	};

	return run_in_unit(tests, 0);
}
