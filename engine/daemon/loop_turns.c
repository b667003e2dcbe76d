/* SPDX-License-Identifier: Apache-2.0
 *
 * loop_turns.c - how long the turns of an event loop take.
 *
 * What anybody waits for at most is the turn that is under way: all it does but for its own waiting for events. No
 * timer is needed to see it, so a loop with nothing to do is left asleep.
 */
#include "daemon/loop_turns.h"

#include "base/metrics.h"

static struct {
	uv_prepare_t prepare;
	uint64_t begun_ns; /* 0: the first turn */
	uint64_t idle_ns;
} turns;

/* Runs once a turn, before the loop waits. */
static void on_turn(uv_prepare_t *prepare)
{
	uint64_t now = uv_hrtime();
	uint64_t idle = uv_metrics_idle_time(prepare->loop);

	if (turns.begun_ns)
		inis_observe(&inis_metrics.loop_turns,
			     ((int64_t)(now - turns.begun_ns) - (int64_t)(idle - turns.idle_ns)) / 1000);
	turns.begun_ns = now;
	turns.idle_ns = idle;
}

void loop_turns_watch(uv_loop_t *loop)
{
	uv_loop_configure(loop, UV_METRICS_IDLE_TIME);
	uv_prepare_init(loop, &turns.prepare);
	uv_prepare_start(&turns.prepare, on_turn);
	uv_unref((uv_handle_t *)&turns.prepare);
}
