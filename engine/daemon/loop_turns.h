/* SPDX-License-Identifier: Apache-2.0
 *
 * loop_turns.h - how long the turns of an event loop take.
 */
#ifndef INIS_DAEMON_LOOP_TURNS_H
#define INIS_DAEMON_LOOP_TURNS_H

#include <uv.h>

/* Counts the turns of a loop that has not run yet in inis_metrics.loop_turns. For one loop a process. */
void loop_turns_watch(uv_loop_t *loop);

#endif
