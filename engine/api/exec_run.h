/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_run.h - one exec from its request to its end, whoever reads its output.
 *
 * A run is in its session's list from go() to the end, under its id. It ends
 * with exited() or failed() of its sink, which answers the client; after that
 * those who wait for its end are called, and the run is freed.
 */
#ifndef INIS_API_EXEC_RUN_H
#define INIS_API_EXEC_RUN_H

#include "api/audit.h"
#include "api/command.h"
#include "api/op.h"

struct exec_run;

struct exec_sink {
	uint32_t flags; /* INIS_EXEC_* */
	uint64_t capture_max;
	void (*started)(struct exec_run *run); /* may be NULL */
	void (*closed)(struct op *op); /* the client has left; NULL: the command runs on */
	void (*output)(struct exec_run *run, enum agent_stream stream, const uint8_t *data, size_t n);
	/* Exactly one of them, last; answers the request. */
	void (*exited)(struct exec_run *run, const struct inis_exited *e);
	void (*failed)(struct exec_run *run, const struct inis_error *err);
	void (*cleanup)(struct exec_run *run); /* may be NULL */
};

/* err NULL: it has ended; killed: by a cancellation. */
typedef void (*exec_ended)(void *ctx, bool killed, const struct inis_error *err);

struct exec_watch {
	LIST_ENTRY(exec_watch) link;
	exec_ended ended;
	void *ctx;
};

/* What writes to the stdin of a run; see exec_stdin.c. */
struct exec_feeder {
	void (*input)(struct exec_feeder *f); /* the run takes more, or none any more */
	void (*ended)(struct exec_feeder *f,
		      const struct inis_error *err); /* the run is over; err NULL: it has exited */
};

struct exec_run {
	struct op op; /* first */
	struct session_exec entry;
	const struct exec_sink *sink;
	struct command command;
	struct audit audit;
	int64_t timeout_ms;
	struct inis_buf input; /* stdin */
	bool has_input;
	bool stdin_open; /* requests may write to stdin */
	bool running; /* the agent has started it */
	uint64_t written; /* bytes handed to the agent as its stdin */
	struct exec_feeder *feeder; /* who writes now, or NULL */
	LIST_HEAD(, exec_watch) watches;
	struct inis_buf out[AGENT_STREAM_COUNT]; /* buffered: what was captured */
	bool streaming; /* the event stream has begun */
};

/* Checks the request of rq and starts it; on failure it has been answered. */
void exec_run_begin(struct http_request *rq, const struct exec_sink *sink);

/* The running exec of a session with this id, or NULL. */
struct exec_run *exec_run_find(struct session *s, const char *id);
/* Cancels it; ended is called once. -1: no memory. */
int exec_run_cancel(struct exec_run *run, exec_ended ended, void *ctx, struct inis_error *err);

extern const struct exec_sink EXEC_BUFFERED; /* exec.c */
extern const struct exec_sink EXEC_STREAM; /* exec_stream.c */

#endif
