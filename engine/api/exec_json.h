/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_json.h - how a command ended, as members of an answer.
 */
#ifndef INIS_API_EXEC_JSON_H
#define INIS_API_EXEC_JSON_H

#include "api/object.h"
#include "base/buf.h"
#include "session/agent.h"

/* What was kept of its output, at most `cap` bytes of each stream; then how it ended. */
void exec_json_result(struct object *o, struct inis_buf out[AGENT_STREAM_COUNT], size_t cap,
		      const struct inis_exited *e);
/* How it ended. */
void exec_json_exit(struct object *o, const struct inis_exited *e);
/* What it has cost, as far as that is known. */
void exec_json_usage(struct object *o, const struct inis_exited *e);

/* Keeps the beginning of what comes. */
void exec_json_keep(struct inis_buf *b, size_t cap, const uint8_t *data, size_t n);

#endif
