/* SPDX-License-Identifier: Apache-2.0
 *
 * reconnect.c - what becomes of execs and of owners of terminals when the connection breaks.
 */
#include "agent/reconnect.h"

#include <stdlib.h>

#include "agent/agent.h"
#include "agent/exec.h"
#include "agent/link.h"
#include "agent/pty.h"
#include "base/cleanup.h"

static void forget_unattached(void)
{
	execs_forget_unattached();
	ptys_forget_unattached();
}

static void on_nobody_came(struct inis_timer *t)
{
	(void)t;
	forget_unattached();
}

static struct inis_timer grace = {.fire = on_nobody_came};

void reconnect_await(void)
{
	inis_timer_start(&agent.events, &grace, INIS_RECONNECT_GRACE_MS);
}

static enum inis_resume_state resume(const struct inis_reconnect *r)
{
	enum inis_resume_state state = exec_resume(r);

	return state == INIS_RESUME_UNKNOWN ? pty_resume(r) : state;
}

int reconnect(const void *data, size_t n)
{
	/* An entry has more than one byte, and mostly there is none. */
	uint32_t max = n < INIS_RECONNECT_MAX ? (uint32_t)n : INIS_RECONNECT_MAX;
	cleanup_free struct inis_reconnect *list = calloc(max, sizeof(*list));
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	int count = list ? inis_reconnect_unpack(data, n, list, max) : -1;

	if (count < 0)
		return -1;
	for (int i = 0; i < count; i++)
		list[i].state = (uint8_t)resume(&list[i]);
	inis_timer_stop(&agent.events, &grace);
	forget_unattached();
	inis_reconnect_pack(&b, list, (uint32_t)count);
	link_send_buf(0, INIS_F_RECONNECTED, &b);
	/* After the answer, so that it comes before what it announces. */
	for (int i = 0; i < count; i++) {
		if (list[i].state != INIS_RESUME_GOES_ON)
			continue;
		exec_go_on(&list[i]);
		pty_go_on(&list[i]);
	}
	return 0;
}
