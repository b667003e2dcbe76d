/* SPDX-License-Identifier: Apache-2.0
 *
 * agent.c - calls to an agent whose other end the test plays itself: frames in order, windows, breaks and lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/metrics.h"
#include "peer.h"
#include "session/agent.h"

struct seen {
	unsigned started;
	unsigned infos;
	unsigned inputs;
	unsigned dones;
	struct inis_buf out;
	struct inis_buf err;
	struct inis_error failure;
	struct agent_result result;
	bool hold; /* hold the call at its first data */
	bool release; /* release it there */
	struct agent_call *call;
};

static void on_started(void *ctx)
{
	((struct seen *)ctx)->started++;
}

static void on_info(void *ctx, const struct agent_result *r)
{
	struct seen *s = ctx;

	s->infos++;
	s->result = *r;
}

static void on_data(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	struct seen *s = ctx;

	(void)offset;
	inis_buf_append(stream == AGENT_OUT ? &s->out : &s->err, data, n);
	if (s->hold)
		agent_call_hold(s->call);
	if (s->release)
		agent_call_release(s->call);
}

static void on_input(void *ctx)
{
	((struct seen *)ctx)->inputs++;
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct seen *s = ctx;

	s->dones++;
	if (err)
		s->failure = *err;
	else
		s->result = *r;
}

static const struct agent_handler HANDLER = {
	.started = on_started, .info = on_info, .data = on_data, .input = on_input, .done = on_done};

static void seen_free(struct seen *s)
{
	inis_buf_free(&s->out);
	inis_buf_free(&s->err);
}

static struct inis_str str(const char *s)
{
	return (struct inis_str){s, strlen(s)};
}

static struct agent_call *start_exec(struct peer *p, struct seen *s, uint8_t stdin_mode)
{
	struct inis_str argv[] = {str("cat")};
	struct inis_exec m = {.id = str("e1"), .stdin_mode = stdin_mode, .argc = 1, .argv = argv, .timeout_ms = 60000};

	s->call = agent_exec(p->agent, &m, &HANDLER, s, NULL);
	assert_non_null(s->call);
	return s->call;
}

/* ---- the straight way ---- */

static void an_exec_runs_from_start_to_exit(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};
	uint32_t channel;

	start_exec(p, &s, INIS_STDIN_NULL);
	channel = peer_expect(p, INIS_F_EXEC)->channel;
	peer_started(p, channel);
	peer_stream(p, channel, INIS_F_OUT, 0, "hello ", 6);
	peer_stream(p, channel, INIS_F_OUT, 6, "world", 5);
	peer_stream(p, channel, INIS_F_ERR, 0, "oops", 4);
	peer_exited(p, channel, 3);
	peer_run(p);
	assert_int_equal(s.started, 1);
	assert_int_equal(s.dones, 1);
	assert_int_equal(s.result.exited.exit_code, 3);
	assert_int_equal(s.out.len, 11);
	assert_memory_equal(s.out.data, "hello world", 11);
	assert_memory_equal(s.err.data, "oops", 4);
	/* Only now may the agent forget it. */
	assert_int_equal(peer_expect(p, INIS_F_RELEASE)->channel, channel);
	seen_free(&s);
}

static void calls_before_the_connection_wait_for_it(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};

	start_exec(p, &s, INIS_STDIN_NULL);
	peer_run(p);
	assert_int_equal(s.dones, 0);
	peer_greet(p);
	peer_exited(p, peer_expect(p, INIS_F_EXEC)->channel, 0);
	peer_run(p);
	assert_int_equal(s.dones, 1);
	seen_free(&s);
}

static void an_error_ends_the_call_with_its_code_and_field(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};

	start_exec(p, &s, INIS_STDIN_NULL);
	peer_error(p, peer_expect(p, INIS_F_EXEC)->channel, INIS_BAD_REQUEST, "cwd", "no such directory");
	peer_run(p);
	assert_int_equal(s.dones, 1);
	assert_int_equal(s.failure.code, INIS_BAD_REQUEST);
	assert_string_equal(s.failure.field, "cwd");
	seen_free(&s);
}

static void L8_the_guest_cannot_make_the_server_answer_500(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};

	start_exec(p, &s, INIS_STDIN_NULL);
	peer_error(p, peer_expect(p, INIS_F_EXEC)->channel, INIS_INTERNAL, "", "bug");
	peer_run(p);
	assert_int_equal(s.failure.code, INIS_SESSION_UNAVAILABLE);
	seen_free(&s);
}

/* ---- windows ---- */

static void output_is_acknowledged_before_the_window_is_full(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};
	uint32_t channel;

	start_exec(p, &s, INIS_STDIN_NULL);
	channel = peer_expect(p, INIS_F_EXEC)->channel;
	peer_started(p, channel);
	for (unsigned i = 0; i < 4; i++)
		peer_fill(p, channel, INIS_F_OUT, (uint64_t)i * 32768, 32768);
	peer_run(p);
	assert_int_equal(peer_ack_of(p, channel), 65536);
	assert_int_equal(peer_ack_of(p, channel), 131072);
	peer_exited(p, channel, 0);
	peer_run(p);
	assert_int_equal(s.out.len, 131072);
	seen_free(&s);
}

static void O9_a_held_call_acknowledges_nothing_until_it_goes_on(void **state)
{
	struct peer *p = *state;
	struct seen s = {.hold = true};
	uint32_t channel;

	start_exec(p, &s, INIS_STDIN_NULL);
	channel = peer_expect(p, INIS_F_EXEC)->channel;
	peer_started(p, channel);
	for (unsigned i = 0; i < 8; i++)
		peer_fill(p, channel, INIS_F_OUT, (uint64_t)i * 32768, 32768);
	peer_run(p);
	assert_int_equal(s.out.len, INIS_AGENT_WINDOW);
	assert_true(peer_silent(p));
	s.hold = false;
	agent_call_unhold(s.call);
	assert_int_equal(peer_ack_of(p, channel), INIS_AGENT_WINDOW);
	agent_call_release(s.call);
	seen_free(&s);
}

static void input_keeps_within_the_window_and_ends_with_eof(void **state)
{
	static const uint8_t data[300000];
	struct peer *p = *state;
	struct seen s = {0};
	uint32_t channel;

	start_exec(p, &s, INIS_STDIN_PIPE);
	channel = peer_expect(p, INIS_F_EXEC)->channel;
	peer_started(p, channel);
	peer_run(p);
	assert_false(agent_call_write(s.call, data, sizeof(data)));
	agent_call_finish(s.call);
	peer_run(p);
	assert_int_equal(peer_take_input(p, channel, NULL), INIS_AGENT_WINDOW);
	peer_input_ack(p, channel, INIS_AGENT_WINDOW, false);
	peer_run(p);
	{
		bool eof = false;

		assert_int_equal(peer_take_input(p, channel, &eof), sizeof(data) - INIS_AGENT_WINDOW);
		assert_true(eof);
	}
	peer_input_ack(p, channel, sizeof(data), false);
	peer_exited(p, channel, 0);
	peer_run(p);
	assert_int_equal(s.dones, 1);
	seen_free(&s);
}

/* ---- breaks ---- */

static void an_exec_goes_on_after_a_break_without_loss_or_repetition(void **state)
{
	struct peer *p = *state;
	uint64_t reconnects = inis_counted(&inis_metrics.agent_reconnects);
	struct seen s = {0};
	const struct peer_frame *f;
	uint32_t channel;

	start_exec(p, &s, INIS_STDIN_NULL);
	channel = peer_expect(p, INIS_F_EXEC)->channel;
	peer_started(p, channel);
	peer_stream(p, channel, INIS_F_OUT, 0, "abc", 3);
	peer_run(p);
	peer_break(p);
	assert_int_equal(s.dones, 0);
	f = peer_greet_until_reconnect(p);
	{
		struct inis_reconnect entry;

		assert_int_equal(inis_reconnect_unpack(f->payload.data, f->payload.len, &entry, 1), 1);
		assert_string_equal(entry.id, "e1");
		assert_int_equal(entry.out_have, 3);
		assert_int_not_equal(entry.channel, channel);
		channel = entry.channel;
		entry.state = INIS_RESUME_GOES_ON;
		peer_reconnected(p, &entry, 1);
	}
	peer_stream(p, channel, INIS_F_OUT, 3, "def", 3);
	peer_exited(p, channel, 0);
	peer_run(p);
	assert_int_equal(inis_counted(&inis_metrics.agent_reconnects), reconnects + 1);
	assert_int_equal(s.dones, 1);
	assert_int_equal(s.failure.code, INIS_OK);
	assert_memory_equal(s.out.data, "abcdef", 6);
	seen_free(&s);
}

static void say_tape(struct peer *p, uint32_t channel, uint64_t first)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	const struct inis_pty_info m = {.first = first, .live = first + 10, .rows = 24, .cols = 80};

	inis_pty_info_pack(&b, &m);
	peer_raw(p, channel, INIS_F_PTY_INFO, 0, b.data, b.len);
}

static struct agent_call *attach(struct peer *p, struct seen *s)
{
	const struct inis_attach m = {.name = str("main"), .pty = {.exec = {.id = str("o1"), .cwd = str("")}}};

	s->call = agent_pty_attach(p->agent, &m, &HANDLER, s, NULL);
	assert_non_null(s->call);
	return s->call;
}

static void a_tape_begins_where_it_is_said_and_goes_on_after_a_break(void **state)
{
	struct peer *p = *state;
	struct inis_reconnect entry;
	struct seen s = {0};
	const struct peer_frame *f;
	uint32_t channel;

	attach(p, &s);
	channel = peer_expect(p, INIS_F_PTY_ATTACH)->channel;
	peer_started(p, channel);
	say_tape(p, channel, 1000);
	peer_stream(p, channel, INIS_F_OUT, 1000, "abc", 3);
	peer_run(p);
	assert_int_equal(s.started, 1);
	assert_int_equal(s.infos, 1);
	assert_int_equal(s.result.tape.first, 1000);
	peer_break(p);
	f = peer_greet_until_reconnect(p);
	assert_int_equal(inis_reconnect_unpack(f->payload.data, f->payload.len, &entry, 1), 1);
	assert_string_equal(entry.id, "o1");
	assert_int_equal(entry.out_have, 1003);
	entry.state = INIS_RESUME_GOES_ON;
	peer_reconnected(p, &entry, 1);
	/* Said again, since the agent cannot know whether it had come. */
	say_tape(p, entry.channel, 1000);
	peer_stream(p, entry.channel, INIS_F_OUT, 1003, "def", 3);
	peer_error(p, entry.channel, INIS_CONFLICT, "", "another client has it");
	peer_run(p);
	assert_int_equal(s.infos, 1);
	assert_memory_equal(s.out.data, "abcdef", 6);
	assert_int_equal(s.dones, 1);
	assert_int_equal(s.failure.code, INIS_CONFLICT);
	seen_free(&s);
}

static void an_agent_that_lies_about_a_tape_loses_its_connection(void **state)
{
	struct peer *p = *state;

	for (int lie = 0; lie < 3; lie++) {
		struct seen s = {0};
		unsigned before = p->connects;
		uint32_t channel;

		attach(p, &s);
		channel = peer_expect(p, INIS_F_PTY_ATTACH)->channel;
		peer_started(p, channel);
		if (lie == 0)
			peer_raw(p, channel, INIS_F_PTY_INFO, 0, "short", 5);
		else
			say_tape(p, channel, 1000);
		if (lie == 1)
			peer_stream(p, channel, INIS_F_OUT, 1001, "x", 1);
		else if (lie == 2)
			peer_raw(p, channel, INIS_F_PTY_ENTRY, 0, "", 0);
		for (int i = 0; i < 2000 && p->connects == before; i++)
			peer_wait(p);
		assert_int_not_equal(p->connects, before);
		peer_forget_execs(p);
		assert_int_equal(s.out.len, 0);
		assert_int_equal(s.dones, 1);
		seen_free(&s);
		peer_renew(p);
	}
}

static void X17_an_exec_whose_output_is_lost_is_an_error_not_a_success(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};
	struct inis_reconnect entry;

	start_exec(p, &s, INIS_STDIN_NULL);
	peer_started(p, peer_expect(p, INIS_F_EXEC)->channel);
	peer_run(p);
	peer_break(p);
	{
		const struct peer_frame *f = peer_greet_until_reconnect(p);

		assert_int_equal(inis_reconnect_unpack(f->payload.data, f->payload.len, &entry, 1), 1);
	}
	entry.state = INIS_RESUME_GAP;
	peer_reconnected(p, &entry, 1);
	peer_run(p);
	assert_int_equal(s.dones, 1);
	assert_int_equal(s.failure.code, INIS_SESSION_UNAVAILABLE);
	seen_free(&s);
}

static void followed_logs_are_asked_for_again_from_where_they_were(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};
	struct inis_logs m = {.name = str("p1"), .follow = 1};
	const struct peer_frame *f;
	struct inis_logs again;
	uint32_t channel;

	s.call = agent_proc_logs(p->agent, &m, &HANDLER, &s, NULL);
	channel = peer_expect(p, INIS_F_PROC_LOGS)->channel;
	peer_logs_info(p, channel, 10, 0);
	peer_stream(p, channel, INIS_F_OUT, 10, "abc", 3);
	peer_run(p);
	peer_break(p);
	peer_greet(p);
	f = peer_expect(p, INIS_F_PROC_LOGS);
	assert_int_equal(inis_logs_unpack(f->payload.data, f->payload.len, &again), 0);
	assert_int_equal(again.out_from, 13);
	peer_logs_info(p, f->channel, 13, 0);
	peer_stream(p, f->channel, INIS_F_OUT, 13, "def", 3);
	peer_end(p, f->channel);
	peer_run(p);
	assert_int_equal(s.infos, 1);
	assert_int_equal(s.dones, 1);
	assert_memory_equal(s.out.data, "abcdef", 6);
	seen_free(&s);
}

static void what_may_have_happened_is_not_done_twice_after_a_break(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};

	s.call = agent_file_mkdir(p->agent, "d", &HANDLER, &s, NULL);
	peer_expect(p, INIS_F_FILE_MKDIR);
	peer_break(p);
	peer_run(p);
	assert_int_equal(s.dones, 1);
	assert_int_equal(s.failure.code, INIS_SESSION_UNAVAILABLE);
	seen_free(&s);
}

static void when_no_connection_can_be_had_all_calls_end(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};

	start_exec(p, &s, INIS_STDIN_NULL);
	peer_expect(p, INIS_F_EXEC);
	p->unreachable = true;
	peer_break(p);
	for (int i = 0; i < 20000 && s.dones == 0; i++)
		peer_wait(p);
	assert_int_equal(s.dones, 1);
	assert_int_equal(s.failure.code, INIS_SESSION_UNAVAILABLE);
	assert_int_equal(p->lost, 1);
	seen_free(&s);
}

/* ---- lies ---- */

static void lie(struct peer *p, struct seen *s, uint32_t *channel)
{
	start_exec(p, s, INIS_STDIN_NULL);
	*channel = peer_expect(p, INIS_F_EXEC)->channel;
	peer_started(p, *channel);
}

static void a_peer_that_breaks_the_protocol_loses_its_connection(void **state)
{
	struct peer *p = *state;

	for (int kind = 0; kind < 9; kind++) {
		struct seen s = {0};
		unsigned before = p->connects;
		uint32_t channel;

		lie(p, &s, &channel);
		switch (kind) {
		case 0: /* a hole */
			peer_stream(p, channel, INIS_F_OUT, 5, "x", 1);
			break;
		case 1: /* empty data */
			peer_stream(p, channel, INIS_F_OUT, 0, "", 0);
			break;
		case 2: /* started twice */
			peer_started(p, channel);
			break;
		case 3: /* the answer to another request */
			peer_end(p, channel);
			break;
		case 4: /* an exit code that is none */
			peer_exited(p, channel, 256);
			break;
		case 5: /* acknowledged what was never sent */
			peer_input_ack(p, channel, 1, false);
			break;
		case 6: /* malformed */
			peer_raw(p, channel, INIS_F_EXITED, 0, "x", 1);
			break;
		case 7: /* more than the window */
			s.hold = true;
			for (unsigned i = 0; i < 9; i++)
				peer_fill(p, channel, INIS_F_OUT, (uint64_t)i * 32768, 32768);
			break;
		default: /* an unknown frame on the control channel */
			peer_raw(p, 0, 999, 0, "", 0);
			break;
		}
		for (int i = 0; i < 2000 && p->connects == before; i++)
			peer_wait(p);
		if (p->connects == before)
			fail_msg("lie %d was believed", kind);
		peer_forget_execs(p);
		assert_int_equal(s.dones, 1);
		seen_free(&s);
		peer_renew(p);
	}
}

static void frames_of_another_epoch_are_dropped(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};
	uint32_t channel;

	lie(p, &s, &channel);
	p->epoch++;
	peer_stream(p, channel, INIS_F_OUT, 0, "old", 3);
	p->epoch--;
	peer_stream(p, channel, INIS_F_OUT, 0, "new", 3);
	peer_exited(p, channel, 0);
	peer_run(p);
	assert_int_equal(s.out.len, 3);
	assert_memory_equal(s.out.data, "new", 3);
	seen_free(&s);
}

/* ---- re-entrance ---- */

static void a_call_may_be_released_by_its_own_handler(void **state)
{
	struct peer *p = *state;
	struct seen s = {.release = true};
	uint32_t channel;

	lie(p, &s, &channel);
	peer_stream(p, channel, INIS_F_OUT, 0, "x", 1);
	peer_stream(p, channel, INIS_F_OUT, 1, "y", 1);
	peer_run(p);
	assert_int_equal(s.out.len, 1);
	assert_int_equal(s.dones, 0);
	assert_int_equal(peer_expect(p, INIS_F_RELEASE)->channel, channel);
	seen_free(&s);
}

static void closing_ends_every_call_once(void **state)
{
	static const struct inis_error why = {.code = INIS_SESSION_ENDED, .message = "over"};
	struct peer *p = *state;
	struct seen s[3] = {{0}};

	for (int i = 0; i < 3; i++)
		start_exec(p, &s[i], INIS_STDIN_NULL);
	agent_close(p->agent, &why);
	p->agent = NULL;
	peer_run(p);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(s[i].dones, 1);
		assert_int_equal(s[i].failure.code, INIS_SESSION_ENDED);
		seen_free(&s[i]);
	}
}

#define CONNECTED(test_) cmocka_unit_test_setup_teardown(test_, peer_setup_greeted, peer_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONNECTED(an_exec_runs_from_start_to_exit),
		cmocka_unit_test_setup_teardown(calls_before_the_connection_wait_for_it, peer_setup, peer_teardown),
		CONNECTED(an_error_ends_the_call_with_its_code_and_field),
		CONNECTED(L8_the_guest_cannot_make_the_server_answer_500),
		CONNECTED(output_is_acknowledged_before_the_window_is_full),
		CONNECTED(O9_a_held_call_acknowledges_nothing_until_it_goes_on),
		CONNECTED(input_keeps_within_the_window_and_ends_with_eof),
		CONNECTED(an_exec_goes_on_after_a_break_without_loss_or_repetition),
		CONNECTED(a_tape_begins_where_it_is_said_and_goes_on_after_a_break),
		CONNECTED(an_agent_that_lies_about_a_tape_loses_its_connection),
		CONNECTED(X17_an_exec_whose_output_is_lost_is_an_error_not_a_success),
		CONNECTED(followed_logs_are_asked_for_again_from_where_they_were),
		CONNECTED(what_may_have_happened_is_not_done_twice_after_a_break),
		CONNECTED(when_no_connection_can_be_had_all_calls_end),
		CONNECTED(a_peer_that_breaks_the_protocol_loses_its_connection),
		CONNECTED(frames_of_another_epoch_are_dropped),
		CONNECTED(a_call_may_be_released_by_its_own_handler),
		CONNECTED(closing_ends_every_call_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
