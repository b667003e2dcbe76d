/* SPDX-License-Identifier: Apache-2.0
 *
 * front_memory.c - when freed memory goes back to the machine.
 *
 * Large bodies and captures come and go: what they took is given back, but not at each turn, since fresh pages cost more
 * than what is done with them. So a front at work keeps some, and how much is a matter of what happened to run at once;
 * at rest it keeps none.
 */
#include "daemon/front_memory.h"

#include <malloc.h>

#define KEEP_FREE (1024 * 1024) /* bytes, for the next body or capture */
#define REST_MS   1000

static uv_timer_t rest;

static void on_rest(uv_timer_t *timer)
{
	(void)timer;
	malloc_trim(0);
}

void front_memory_watch(uv_loop_t *loop)
{
	/* The end of another arena than the first is never trimmed. */
	mallopt(M_ARENA_MAX, 1);
	/* Setting one threshold stops the library from moving the other. */
	mallopt(M_TRIM_THRESHOLD, KEEP_FREE);
	mallopt(M_MMAP_THRESHOLD, KEEP_FREE);
	uv_timer_init(loop, &rest);
	uv_unref((uv_handle_t *)&rest);
}

void front_memory_used(void)
{
	uv_timer_start(&rest, on_rest, REST_MS, 0);
}
