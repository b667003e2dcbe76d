/* SPDX-License-Identifier: Apache-2.0
 *
 * front_memory.h - when freed memory goes back to the machine.
 */
#ifndef INIS_DAEMON_FRONT_MEMORY_H
#define INIS_DAEMON_FRONT_MEMORY_H

#include <uv.h>

/* Call before anything large is allocated. For one loop a process. */
void front_memory_watch(uv_loop_t *loop);

/* Something was done that may have left memory behind. */
void front_memory_used(void);

#endif
