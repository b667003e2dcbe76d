/* SPDX-License-Identifier: Apache-2.0
 *
 * reconnect.h - what becomes of execs and of owners of terminals when the connection breaks.
 */
#ifndef INIS_AGENT_RECONNECT_H
#define INIS_AGENT_RECONNECT_H

#include <stddef.h>

/* RECONNECT: takes the named ones up again and answers; the others are lost. -1: malformed. */
int reconnect(const void *data, size_t n);

/* The connection is gone; somebody may come back within INIS_RECONNECT_GRACE_MS. */
void reconnect_await(void);

#endif
