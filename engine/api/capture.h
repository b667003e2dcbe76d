/* SPDX-License-Identifier: Apache-2.0
 *
 * capture.h - one command in one session with its output kept in memory, for requests that run several.
 *
 * As a buffered exec it runs on when the client goes away; it ends early only with its session.
 */
#ifndef INIS_API_CAPTURE_H
#define INIS_API_CAPTURE_H

#include "api/audit.h"
#include "api/command.h"

#define CAPTURE_ID_LEN 24 /* longer than chance can repeat */

struct capture {
	/* Set by the caller, the rest zeroed. */
	struct http_request *rq; /* for which it runs; unanswered until done() */
	struct session *session;
	const struct command *command; /* argv, cwd and call_env count; lives until done() */
	int64_t timeout_ms;
	size_t cap; /* bytes kept of each stream */
	enum audit_kind kind;
	/* Once: it has exited, or it could not be run to its end; one of both is NULL. */
	void (*done)(struct capture *c, const struct inis_exited *e, const struct inis_error *err);

	/* What was kept; capture_free() frees it. */
	struct inis_buf out[AGENT_STREAM_COUNT];

	/* Its own. */
	char id[CAPTURE_ID_LEN + 1];
	struct audit audit;
	bool uses;
};

/* Resumes the session, or waits until it is ready, and runs the command. done() may be called at once. */
void capture_start(struct capture *c);
void capture_free(struct capture *c);

#endif
