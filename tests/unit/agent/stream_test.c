/* SPDX-License-Identifier: Apache-2.0
 *
 * stream_test.c - the agent in a real unit: the streams of commands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client.h"

static void X19_output_of_a_fast_command_is_complete(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++)
		client_expect_output("echo x", "x\n");
}

static void O4_output_beyond_the_cap_is_dropped_and_counted(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh("head -c 20000000 /dev/zero; echo e >&2; exit 3", argv);
	struct outcome o;

	(void)state;
	m.capture_max = 1000000;
	client_exec_finish(&client, client_exec_start(&client, &m), &o);
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
	client_expect_output("echo others go on", "others go on\n");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(X19_output_of_a_fast_command_is_complete),
		cmocka_unit_test(O4_output_beyond_the_cap_is_dropped_and_counted),
		cmocka_unit_test(a_stream_nobody_acknowledges_stalls_only_its_command),
		cmocka_unit_test(X14_large_stdin_arrives_whole_and_its_end_is_seen),
		cmocka_unit_test(a_reader_that_closes_stdin_is_told_about),
	};

	return run_with_client(tests, 0);
}
