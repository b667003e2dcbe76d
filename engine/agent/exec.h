/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.h - commands that belong to a client: their output is streamed to it, and resumes after a broken connection.
 */
#ifndef INIS_AGENT_EXEC_H
#define INIS_AGENT_EXEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* EXEC, PTY_START. */
int exec_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int pty_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);

/* RECONNECT: takes the named execs up again and answers; the others are lost. -1: malformed. */
int execs_reconnect(const void *data, size_t n);

/* The connection is gone; somebody may come back within INIS_RECONNECT_GRACE_MS. */
void execs_client_lost(void);

#endif
