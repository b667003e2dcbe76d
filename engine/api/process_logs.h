/* SPDX-License-Identifier: Apache-2.0
 *
 * process_logs.h - an answer with the output of a process, wherever that comes from: process_logs.c asks the agent,
 * ended_logs.c reads what is kept.
 */
#ifndef INIS_API_PROCESS_LOGS_H
#define INIS_API_PROCESS_LOGS_H

#include "api/encode.h"
#include "api/op.h"

struct kept_log;

struct logs {
	struct op op;
	bool follow;
	bool positions;
	int64_t from[AGENT_STREAM_COUNT];
	/* read */
	struct inis_buf text[AGENT_STREAM_COUNT];
	uint64_t first[AGENT_STREAM_COUNT];
	bool truncated;
	/* follow */
	uint64_t at[AGENT_STREAM_COUNT]; /* offsets after what was sent */
	bool streaming;

	struct kept_log *kept; /* of ended_logs.c */
};

/* Read: takes what there is room for. */
void logs_take(struct logs *l, enum agent_stream stream, const uint8_t *data, size_t n);
/* Read: answers and ends the op. */
void logs_answer(struct logs *l);
/* Follow: false when the client must be waited for. */
bool logs_send(struct logs *l, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n);
/* Follow: the terminal event; ends the op. */
void logs_eof(struct logs *l);

/* ended_logs.c: in place of go(). */
void ended_logs(struct op *op);
void ended_logs_free(struct logs *l);

#endif
