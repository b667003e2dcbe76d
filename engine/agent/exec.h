/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.h - commands that belong to a client: their output is streamed to it, and resumes after a broken connection.
 */
#ifndef INIS_AGENT_EXEC_H
#define INIS_AGENT_EXEC_H

#include <stddef.h>
#include <stdint.h>

#include "wire/agent_proto.h"

/* EXEC, PTY_START. */
int exec_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int pty_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);

/* For reconnect.c. */
enum inis_resume_state exec_resume(const struct inis_reconnect *r);
void exec_go_on(const struct inis_reconnect *r); /* harmless when there is none of this id */
void execs_forget_unattached(void);

#endif
