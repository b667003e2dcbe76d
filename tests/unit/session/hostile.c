/* SPDX-License-Identifier: Apache-2.0
 *
 * hostile.c - an agent that means harm: frames at random, well formed and not, to calls of every kind.
 *
 * INIS_TEST_SEED repeats a run; the seed is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "chance.h"
#include "peer.h"

#define ROUNDS 200
#define FRAMES 60
#define CALLS  6
#define PINGS  100000

struct seen {
	unsigned dones;
	size_t bytes; /* since the call was held, or in all */
	struct agent_call *call;
};

static void on_data(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n)
{
	(void)stream;
	(void)offset;
	(void)data;
	((struct seen *)ctx)->bytes += n;
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	struct seen *s = ctx;

	assert_true((r == NULL) != (err == NULL));
	s->dones++;
	s->call = NULL;
}

static const struct agent_handler HANDLER = {.data = on_data, .done = on_done};

static struct inis_str str(const char *s)
{
	return (struct inis_str){s, strlen(s)};
}

static struct agent_call *start_exec(struct peer *p, struct seen *s, const char *id)
{
	struct inis_str argv[] = {str("cat")};
	struct inis_exec m = {
		.id = str(id), .stdin_mode = INIS_STDIN_PIPE, .argc = 1, .argv = argv, .timeout_ms = 60000};

	s->call = agent_exec(p->agent, &m, &HANDLER, s, NULL);
	assert_non_null(s->call);
	return s->call;
}

/* Every type that there is, and some that there are not. */
static uint16_t some_type(void)
{
	return (uint16_t)(chance(8) == 0 ? chance(65536) : chance(INIS_F_RESUMED + 4));
}

/* Offsets and counts that invite overflow, else noise. */
static size_t some_payload(uint8_t *out)
{
	static const uint64_t offsets[] = {0, 1, INIS_AGENT_WINDOW, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
	size_t n = chance(4) == 0 ? INIS_FRAME_PAYLOAD_MAX - chance(64) : chance(200);
	uint64_t offset = offsets[chance(sizeof(offsets) / sizeof(offsets[0]))];

	for (size_t i = 0; i < n; i++)
		out[i] = chance(3) ? 0 : (uint8_t)chance(256);
	if (n >= sizeof(offset) && chance(2))
		memcpy(out, &offset, sizeof(offset));
	return n;
}

static void some_frame(struct peer *p)
{
	static uint8_t payload[INIS_FRAME_PAYLOAD_MAX];
	uint16_t flags = (uint16_t)(chance(6) == 0 ? chance(65536) : chance(INIS_FRAME_FLAGS + 1));
	uint32_t channel = chance(10) == 0 ? chance(UINT32_MAX) : chance(CALLS + 2);
	uint32_t epoch = p->epoch;

	if (chance(10) == 0)
		p->epoch = chance(UINT32_MAX);
	peer_raw(p, channel, some_type(), flags, payload, some_payload(payload));
	p->epoch = epoch;
}

/* The agent works for a peer that behaves. */
static void assert_usable(struct peer *p)
{
	struct seen s = {0};
	uint32_t channel;

	start_exec(p, &s, "after");
	channel = peer_expect(p, INIS_F_EXEC)->channel;
	peer_started(p, channel);
	peer_stream(p, channel, INIS_F_OUT, 0, "fine", 4);
	peer_exited(p, channel, 0);
	peer_run(p);
	assert_int_equal(s.dones, 1);
	assert_int_equal(s.bytes, 4);
}

static void frames_at_random_end_each_call_once_at_most_and_harm_nobody_else(void **state)
{
	struct peer *p = *state;

	begin_chance();
	for (int round = 0; round < ROUNDS; round++) {
		struct seen seen[CALLS] = {{0}};
		char id[8];

		for (int i = 0; i < CALLS; i++) {
			snprintf(id, sizeof(id), "e%d", i);
			start_exec(p, &seen[i], id);
		}
		peer_run(p);
		for (int i = 0; i < FRAMES; i++)
			some_frame(p);
		peer_run(p);
		/* Ends what is left, each once. */
		peer_renew(p);
		for (int i = 0; i < CALLS; i++)
			assert_int_equal(seen[i].dones, 1);
		assert_usable(p);
	}
}

static void output_without_end_stops_at_the_window_of_a_call_that_is_held(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};
	uint32_t channel;
	uint64_t sent = 0;

	start_exec(p, &s, "flood");
	channel = peer_expect(p, INIS_F_EXEC)->channel;
	peer_started(p, channel);
	peer_run(p);
	agent_call_hold(s.call);
	for (int i = 0; i < 200; i++, sent += 32768)
		peer_fill(p, channel, INIS_F_OUT, sent, 32768);
	peer_run(p);
	assert_true(s.bytes <= INIS_AGENT_WINDOW);
	/* Who sends more than it was allowed has lost its connection. */
	assert_true(s.dones == 1 || p->connects > 0);
	peer_renew(p);
	assert_int_equal(s.dones, 1);
	assert_usable(p);
}

static void frames_cut_off_anywhere_are_waited_for_and_then_dropped(void **state)
{
	struct peer *p = *state;
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_frame_put(&b, p->epoch, 1, INIS_F_OUT, 0, "12345678 and some bytes", 23);
	for (size_t n = 1; n < b.len; n++) {
		struct seen s = {0};

		start_exec(p, &s, "cut");
		peer_expect(p, INIS_F_EXEC);
		assert_int_equal(send(p->fd, b.data, n, MSG_NOSIGNAL), n);
		peer_run(p);
		assert_int_equal(s.dones, 0);
		assert_int_equal(s.bytes, 0);
		peer_renew(p);
		assert_int_equal(s.dones, 1);
	}
	assert_usable(p);
}

static void every_answer_again_and_again_changes_nothing_after_the_first(void **state)
{
	struct peer *p = *state;
	struct seen s = {0};
	uint32_t channel;

	start_exec(p, &s, "again");
	channel = peer_expect(p, INIS_F_EXEC)->channel;
	peer_started(p, channel);
	peer_exited(p, channel, 0);
	for (int i = 0; i < 50 && p->connects == 0; i++) {
		peer_exited(p, channel, i);
		peer_end(p, channel);
		peer_stream(p, channel, INIS_F_OUT, 0, "more", 4);
		peer_run(p);
	}
	assert_int_equal(s.dones, 1);
	assert_int_equal(s.bytes, 0);
	peer_renew(p);
	assert_usable(p);
}

static void who_asks_for_answers_and_reads_none_loses_the_connection(void **state)
{
	static const uint8_t payload[64];
	struct peer *p = *state;
	struct seen s = {0};

	start_exec(p, &s, "asked");
	for (int i = 0; i < PINGS && p->connects == 0; i++) {
		peer_raw(p, 0, INIS_F_PING, 0, payload, sizeof(payload));
		if (i % 100 == 0)
			peer_run(p);
	}
	assert_true(p->connects > 0);
	peer_renew(p);
	assert_int_equal(s.dones, 1);
	assert_usable(p);
}

/* Begins a message of many pieces and leaves it so. */
static void begin_message(struct peer *p, uint32_t channel, size_t n)
{
	static const uint8_t piece[INIS_FRAME_PAYLOAD_MAX];

	for (size_t sent = 0; sent < n && p->connects == 0; sent += sizeof(piece)) {
		peer_raw(p, channel, INIS_F_EXITED, INIS_FRAME_MORE, piece, sizeof(piece));
		peer_run(p);
	}
}

static void messages_without_an_end_are_no_longer_together_than_one_may_be(void **state)
{
	struct peer *p = *state;
	struct seen seen[CALLS] = {{0}};
	uint32_t channels[CALLS];

	for (int i = 0; i < CALLS; i++) {
		start_exec(p, &seen[i], "begun");
		channels[i] = peer_expect(p, INIS_F_EXEC)->channel;
	}
	for (int i = 0; i < CALLS; i++) {
		assert_int_equal(p->connects, i * INIS_MESSAGE_MAX / 4 > INIS_MESSAGE_MAX);
		begin_message(p, channels[i], INIS_MESSAGE_MAX / 4);
	}
	assert_true(p->connects > 0);
	peer_renew(p);
	for (int i = 0; i < CALLS; i++)
		assert_int_equal(seen[i].dones, 1);
	assert_usable(p);
}

#define CONNECTED(test_) cmocka_unit_test_setup_teardown(test_, peer_setup_greeted, peer_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONNECTED(frames_at_random_end_each_call_once_at_most_and_harm_nobody_else),
		CONNECTED(output_without_end_stops_at_the_window_of_a_call_that_is_held),
		CONNECTED(frames_cut_off_anywhere_are_waited_for_and_then_dropped),
		CONNECTED(who_asks_for_answers_and_reads_none_loses_the_connection),
		CONNECTED(messages_without_an_end_are_no_longer_together_than_one_may_be),
		CONNECTED(every_answer_again_and_again_changes_nothing_after_the_first),
	};

	/* Each broken connection is worth a warning, but not here. */
	inis_log_set_level(INIS_LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
