/* SPDX-License-Identifier: Apache-2.0
 *
 * agent.h - requests to the agent of one session, over one connection.
 *
 * DOC: How it works
 *
 * A call is one request on its channel. It ends exactly once: with done(), or by
 * agent_call_release() before that; the handle is dead afterwards. Everything
 * the agent sends is checked before a handler sees it; a peer that breaks the
 * protocol loses its connection.
 *
 * Output is acknowledged as it is handed over. A handler that cannot keep up
 * holds the call: nothing is acknowledged, so at most one window per stream
 * arrives. Input is taken at once and kept until the agent has acknowledged it.
 *
 * When the connection breaks, the owner is asked for a new descriptor. Execs go
 * on where they were; followed logs are asked for again from where they were;
 * calls that had not been sent are sent; all others end with
 * session_unavailable. When no connection can be had, all end so.
 *
 * Handlers may start and release calls; agent_close() is legal in any of them.
 */
#ifndef INIS_SESSION_AGENT_H
#define INIS_SESSION_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/error.h"
#include "wire/agent_proto.h"
#include "wire/search_proto.h"

struct agent;
struct agent_call;

struct agent_owner {
	void (*on_ready)(void *ctx); /* a handshake is done; the first time the agent can be used */
	/* Asks for a descriptor: answer, now or later, with agent_attach() or agent_unreachable(). */
	void (*on_connect)(void *ctx);
	void (*on_lost)(void *ctx); /* no connection could be had; asked again with the next call */
	void (*on_quiet)(void *ctx); /* agent_quiesce(): it may be frozen now */
};

/* Starts without a connection and asks for none until the first agent_attach() or call. */
struct agent *agent_new(uv_loop_t *loop, const struct agent_owner *owner, void *ctx, struct inis_error *err);
void agent_attach(struct agent *a, int fd); /* takes fd */
void agent_unreachable(struct agent *a);
/* Ends all calls with `why` and frees. */
void agent_close(struct agent *a, const struct inis_error *why);
bool agent_connected(const struct agent *a);

/*
 * Around a freeze of the unit. quiesce: time stops for the agent and for all calls, whose connection and streams stay;
 * on_quiet() follows, from the loop, within a second. go_on: after the thaw, or when there was no freeze.
 */
void agent_quiesce(struct agent *a);
void agent_go_on(struct agent *a);

enum agent_stream { AGENT_OUT, AGENT_ERR, AGENT_STREAM_COUNT };

/* What a frame meant; which member counts follows from the call. Strings live during the callback. */
struct agent_result {
	uint32_t end_flags; /* INIS_END_* of a list or log */
	struct inis_exited exited; /* exec, terminal */
	struct inis_proc_info proc; /* process start, get, kill; each of a list */
	struct inis_file_info file;
	struct inis_pty_info tape; /* named terminal: of the output that follows */
	struct inis_pty_entry pty; /* each of a list */
	uint64_t first[AGENT_STREAM_COUNT]; /* logs: offsets of the first bytes that follow */
	bool truncated; /* logs: bytes before them are gone */
};

/* Any member but done may be NULL. */
struct agent_handler {
	void (*started)(void *ctx); /* exec, terminal: it runs */
	/* File read, log, named terminal: before data. List: each. */
	void (*info)(void *ctx, const struct agent_result *r);
	/* offset: of the first of these bytes in its stream. */
	void (*data)(void *ctx, enum agent_stream stream, uint64_t offset, const uint8_t *data, size_t n);
	void (*input)(void *ctx); /* input may be written, or more of it; or the reader is gone */
	void (*done)(void *ctx, const struct agent_result *r, const struct inis_error *err); /* one of both is NULL */
};

/* Each sends one request. NULL + err when it could not even be queued; then done is not called. */
struct agent_call *agent_exec(struct agent *a, const struct inis_exec *m, const struct agent_handler *h, void *ctx,
			      struct inis_error *err);
struct agent_call *agent_pty(struct agent *a, const struct inis_pty *m, const struct agent_handler *h, void *ctx,
			     struct inis_error *err);
/* A named terminal: data() has its tape. Ends with conflict when another client takes it; a release leaves it running. */
struct agent_call *agent_pty_attach(struct agent *a, const struct inis_attach *m, const struct agent_handler *h,
				    void *ctx, struct inis_error *err);
struct agent_call *agent_pty_list(struct agent *a, const struct agent_handler *h, void *ctx, struct inis_error *err);
struct agent_call *agent_pty_kill(struct agent *a, const char *name, uint32_t grace_ms, const struct agent_handler *h,
				  void *ctx, struct inis_error *err);
struct agent_call *agent_proc_start(struct agent *a, const struct inis_exec *m, const struct agent_handler *h,
				    void *ctx, struct inis_error *err);
struct agent_call *agent_proc_get(struct agent *a, const char *name, const struct agent_handler *h, void *ctx,
				  struct inis_error *err);
struct agent_call *agent_proc_list(struct agent *a, const struct agent_handler *h, void *ctx, struct inis_error *err);
struct agent_call *agent_proc_kill(struct agent *a, const char *name, uint32_t grace_ms, const struct agent_handler *h,
				   void *ctx, struct inis_error *err);
struct agent_call *agent_proc_stdin(struct agent *a, const char *name, const struct agent_handler *h, void *ctx,
				    struct inis_error *err);
struct agent_call *agent_proc_logs(struct agent *a, const struct inis_logs *m, const struct agent_handler *h, void *ctx,
				   struct inis_error *err);
struct agent_call *agent_file_read(struct agent *a, const char *path, uint64_t offset, uint64_t length,
				   const struct agent_handler *h, void *ctx, struct inis_error *err);
struct agent_call *agent_file_write(struct agent *a, const struct inis_file_write *m, const struct agent_handler *h,
				    void *ctx, struct inis_error *err);
struct agent_call *agent_file_list(struct agent *a, const char *path, uint32_t limit, const struct agent_handler *h,
				   void *ctx, struct inis_error *err);
struct agent_call *agent_file_mkdir(struct agent *a, const char *path, const struct agent_handler *h, void *ctx,
				    struct inis_error *err);
struct agent_call *agent_file_remove(struct agent *a, const char *path, bool recursive, const struct agent_handler *h,
				     void *ctx, struct inis_error *err);
struct agent_call *agent_file_rename(struct agent *a, const char *path, const char *dest, const struct agent_handler *h,
				     void *ctx, struct inis_error *err);
struct agent_call *agent_file_stat(struct agent *a, const char *path, const struct agent_handler *h, void *ctx,
				   struct inis_error *err);

/* FILE_FIND or FILE_GREP; data() has pieces of records. */
struct agent_call *agent_file_search(struct agent *a, bool grep, const struct inis_search *m,
				     const struct agent_handler *h, void *ctx, struct inis_error *err);

/* Output: stop and go on acknowledging. */
void agent_call_hold(struct agent_call *c);
void agent_call_unhold(struct agent_call *c);

/*
 * Input, from the first input() on. write copies all; false: more than a window
 * waits, stop until input(). finish: end of file after what was written.
 */
bool agent_call_write(struct agent_call *c, const void *data, size_t n);
void agent_call_finish(struct agent_call *c);
uint64_t agent_call_input_taken(const struct agent_call *c); /* bytes the agent has acknowledged */
bool agent_call_input_closed(const struct agent_call *c); /* the reader is gone: the rest is discarded */

/* Terminal; both non-zero, 1 to 63. */
void agent_call_resize(struct agent_call *c, uint16_t rows, uint16_t cols);
void agent_call_signal(struct agent_call *c, unsigned signo);

void agent_call_cancel(struct agent_call *c, uint32_t grace_ms); /* exec; terminal: hangs up; done() follows */
void agent_call_release(struct agent_call *c); /* done() will not be called */

#endif
