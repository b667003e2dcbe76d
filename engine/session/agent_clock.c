/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_clock.c - the time of an agent, which stands still while its unit is frozen.
 *
 * All limits of agent_*.c are in this time: a call that was given ten seconds has
 * them whenever it is that the agent can run. The agent keeps the same time for
 * its own limits. It is told before the freeze and after the thaw; one that
 * cannot be told is frozen all the same.
 */
#include "session/agent_private.h"

#define QUIET_LIMIT_MS 1000

inis_ms agent_now(const struct agent *a)
{
	return (a->held_at ? a->held_at : inis_now_ms()) - a->lost_ms;
}

inis_ms agent_deadline_in(const struct agent *a, inis_ms ms)
{
	inis_ms at;

	return ms == INIS_NEVER || __builtin_add_overflow(agent_now(a), ms, &at) ? INIS_NEVER : at;
}

uint64_t agent_timer_ms(const struct agent *a)
{
	inis_ms now = agent_now(a);
	inis_ms in = a->timer_at <= now ? 0 : a->held_at ? INIS_NEVER : a->timer_at - now;
	inis_ms quiet = a->quiet_by == INIS_NEVER ? INIS_NEVER : a->quiet_by - inis_now_ms();

	if (quiet < 0)
		quiet = 0;
	return (uint64_t)(quiet < in ? quiet : in);
}

static void tell(struct agent *a, uint16_t type)
{
	cleanup_buf struct inis_buf out = INIS_BUF_INIT(0);

	inis_frame_put(&out, a->epoch, 0, type, 0, NULL, 0);
	agent_send(a, &out);
}

void agent_quiesce(struct agent *a)
{
	if (!a->held_at)
		a->held_at = inis_now_ms();
	a->say_resumed = false;
	a->quiet_by = inis_now_ms();
	if (a->state == AGENT_UP && (a->features & INIS_FEATURE_PAUSE)) {
		a->quiet_by += QUIET_LIMIT_MS;
		tell(a, INIS_F_QUIESCE);
	}
	agent_arm(a);
}

void agent_quiet(struct agent *a)
{
	if (a->quiet_by == INIS_NEVER)
		return;
	a->quiet_by = INIS_NEVER;
	a->owner.on_quiet(a->ctx);
}

void agent_go_on(struct agent *a)
{
	if (a->held_at)
		a->lost_ms += inis_now_ms() - a->held_at;
	a->held_at = 0;
	a->quiet_by = INIS_NEVER;
	a->say_resumed = true;
	agent_say_resumed(a);
	agent_arm(a);
}

void agent_say_resumed(struct agent *a)
{
	if (!a->say_resumed || a->state != AGENT_UP)
		return;
	a->say_resumed = false;
	if (a->features & INIS_FEATURE_PAUSE)
		tell(a, INIS_F_RESUMED);
}
