/* SPDX-License-Identifier: Apache-2.0
 *
 * resume_test.c - connections that break: execs go on, nothing is lost or doubled.
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

static void reconnect(struct client *c, struct inis_reconnect *list, uint32_t n)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_frame f;

	client_open(c, &unit);
	for (uint32_t i = 0; i < n; i++)
		list[i].channel = client_channel(c);
	inis_reconnect_pack(&b, list, n);
	client_send_buf(c, 0, INIS_F_RECONNECT, &b);
	client_expect(c, 0, INIS_F_RECONNECTED, &f);
	assert_int_equal(inis_reconnect_unpack(f.payload, f.length, list, n), n);
}

/* Numbers, one a line, in order: what the client has so far of them. */
struct counter {
	struct inis_buf text;
};

static void take_out(struct counter *k, const struct inis_frame *f)
{
	struct inis_unpack u;

	inis_unpack_init(&u, f->payload, f->length);
	assert_int_equal(inis_unpack_u64(&u), k->text.len);
	inis_buf_append(&k->text, u.at, u.left);
}

static void check_numbers(struct counter *k, unsigned last)
{
	const char *at = inis_buf_cstr(&k->text);

	for (unsigned i = 1; i <= last; i++) {
		unsigned value = 0;
		int n = 0;

		assert_int_equal(sscanf(at, "%u\n%n", &value, &n), 1);
		assert_int_equal(value, i);
		at += n;
	}
	assert_int_equal(*at, '\0');
}

static void O12_a_stream_cut_fifty_times_is_whole(void **state)
{
	struct counter k = {0};
	struct inis_str argv[3];
	struct inis_exec m = client_sh("seq 200000", argv);
	struct inis_reconnect entry = {.id = "counting"};
	struct client c;
	struct inis_frame f;
	bool exited = false;
	uint32_t channel;

	(void)state;
	m.id = str("counting");
	client_start(&c, &unit);
	channel = client_exec_start(&c, &m);
	for (unsigned round = 0; !exited; round++) {
		unsigned frames = 0;

		while (client_next(&c, &f)) {
			if (f.type == INIS_F_OUT) {
				take_out(&k, &f);
				/* Some of what came is acknowledged, some only had. */
				if (round % 2)
					client_ack(&c, channel, k.text.len, 0);
				frames++;
			}
			exited = f.type == INIS_F_EXITED;
			if (exited || (frames > round % 3 && round < 50))
				break;
			if (round >= 50)
				client_ack(&c, channel, k.text.len, 0);
		}
		if (exited)
			break;
		client_close(&c);
		entry.out_have = k.text.len;
		reconnect(&c, &entry, 1);
		channel = entry.channel;
		assert_int_equal(entry.state, INIS_RESUME_GOES_ON);
	}
	check_numbers(&k, 200000);
	/* More than there ever was. */
	client_close(&c);
	entry.out_have = k.text.len + 1;
	reconnect(&c, &entry, 1);
	assert_int_equal(entry.state, INIS_RESUME_GAP);
	inis_buf_free(&k.text);
	client_close(&c);
}

static void the_end_is_kept_until_release(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("exit 9", argv);
	struct inis_reconnect entry = {.id = "ending"};
	struct inis_exited e;
	struct inis_frame f;
	struct client c;
	uint32_t channel;

	(void)state;
	m.id = str("ending");
	client_start(&c, &unit);
	channel = client_exec_start(&c, &m);
	client_expect(&c, channel, INIS_F_STARTED, &f);
	client_expect(&c, channel, INIS_F_EXITED, &f);
	for (int i = 0; i < 3; i++) {
		client_close(&c);
		reconnect(&c, &entry, 1);
		assert_int_equal(entry.state, INIS_RESUME_GOES_ON);
		client_expect(&c, entry.channel, INIS_F_EXITED, &f);
		assert_int_equal(inis_exited_unpack(f.payload, f.length, &e), 0);
		assert_int_equal(e.exit_code, 9);
	}
	client_release(&c, entry.channel);
	client_close(&c);
	reconnect(&c, &entry, 1);
	assert_int_equal(entry.state, INIS_RESUME_UNKNOWN);
	client_close(&c);
}

static void input_goes_on_where_it_was_taken(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("cat", argv);
	struct inis_reconnect entry = {.id = "reading"};
	struct inis_frame f;
	struct outcome o;
	struct client c;
	uint32_t channel;

	(void)state;
	m.id = str("reading");
	m.stdin_mode = INIS_STDIN_PIPE;
	client_start(&c, &unit);
	channel = client_exec_start(&c, &m);
	client_send_stream(&c, channel, 0, 0, "hello ", 6);
	client_expect(&c, channel, INIS_F_STARTED, &f);
	client_expect(&c, channel, INIS_F_STDIN_ACK, &f);
	client_close(&c);
	reconnect(&c, &entry, 1);
	client_expect(&c, entry.channel, INIS_F_STDIN_ACK, &f);
	assert_int_equal(f.payload[0], 6);
	/* Sent again in part: only what is new arrives. */
	client_send_stream(&c, entry.channel, INIS_FRAME_EOF, 3, "lo you", 6);
	client_exec_finish(&c, entry.channel, &o);
	assert_string_equal(outcome_out(&o), "hello you");
	outcome_free(&o);
	client_close(&c);
}

static void one_that_nobody_names_is_killed_or_runs_on_detached(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m;
	struct inis_frame f;
	struct outcome o;
	struct client c;
	uint32_t channel;

	(void)state;
	client_start(&c, &unit);
	m = client_sh("trap 'echo ended > /tmp/attached; exit' TERM; sleep 300 & echo up; wait", argv);
	channel = client_exec_start(&c, &m);
	client_expect(&c, channel, INIS_F_STARTED, &f);
	/* From then on it hears of its end. */
	client_expect(&c, channel, INIS_F_OUT, &f);
	m = client_sh("yes | head -c 5000000; echo ended > /tmp/detached; sleep 300", argv);
	m.flags = INIS_EXEC_DETACHED;
	channel = client_exec_start(&c, &m);
	client_expect(&c, channel, INIS_F_STARTED, &f);
	client_close(&c);
	client_start(&c, &unit);
	client_run(&c,
		   "for i in $(seq 200); do test -e /tmp/attached && test -e /tmp/detached && break; sleep 0.1; done; "
		   "cat /tmp/attached /tmp/detached; "
		   "for i in $(seq 200); do test $(pgrep -c sleep) = 1 && break; sleep 0.1; done; pgrep -c sleep",
		   &o);
	assert_string_equal(outcome_out(&o), "ended\nended\n1\n");
	outcome_free(&o);
	client_run(&c, "pkill sleep", &o);
	outcome_free(&o);
	client_close(&c);
}

static void the_newest_connection_counts(void **state)
{
	struct client old, new;
	struct inis_frame f;
	struct outcome o;

	(void)state;
	client_start(&old, &unit);
	client_start(&new, &unit);
	assert_false(client_next(&old, &f));
	client_run(&new, "echo new", &o);
	assert_string_equal(outcome_out(&o), "new\n");
	outcome_free(&o);
	client_close(&old);
	client_close(&new);
}

static void X16_two_hundred_cut_at_random_leave_nothing(void **state)
{
	struct client c;
	struct outcome o;

	(void)state;
	srand(1);
	for (unsigned i = 0; i < 200; i++) {
		struct inis_str argv[3];
		struct inis_exec m = client_sh("seq 100000; sleep 300", argv);
		struct inis_frame f;
		uint32_t channel;

		client_start(&c, &unit);
		channel = client_exec_start(&c, &m);
		for (int frames = rand() % 6; frames > 0; frames--) {
			client_next(&c, &f);
			if (f.type == INIS_F_OUT && rand() % 2)
				client_ack(&c, channel, 1, 0);
		}
		client_close(&c);
	}
	client_start(&c, &unit);
	for (int i = 0; i < 200 && unit_guests(&unit) > 0; i++)
		usleep(50000);
	assert_int_equal(unit_guests(&unit), 0);
	client_run(&c, "ls /proc/self/fd | wc -l", &o);
	assert_string_equal(outcome_out(&o), "4\n");
	outcome_free(&o);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(O12_a_stream_cut_fifty_times_is_whole),
		cmocka_unit_test(the_end_is_kept_until_release),
		cmocka_unit_test(input_goes_on_where_it_was_taken),
		cmocka_unit_test(one_that_nobody_names_is_killed_or_runs_on_detached),
		cmocka_unit_test(the_newest_connection_counts),
		cmocka_unit_test(X16_two_hundred_cut_at_random_leave_nothing),
	};

	return run_in_unit(tests, 1 /* INIS_UNIT_NO_SUDO */);
}
