/* SPDX-License-Identifier: Apache-2.0
 *
 * audit.h - what is written down of a command: who began it, what it was, how it ended.
 *
 * What it was is as much of its argv as the session's command_capture says; its directory, environment, input and
 * output never are. Nobody waits for it, and a row that cannot be written stops no command.
 */
#ifndef INIS_API_AUDIT_H
#define INIS_API_AUDIT_H

#include "api/api.h"
#include "store/audit.h"

enum audit_kind { AUDIT_EXEC, AUDIT_BATCH_EXEC, AUDIT_ONE_SHOT, AUDIT_PROCESS, AUDIT_PTY };

/* Zeroed: nothing has begun. */
struct audit {
	struct inis_store *store; /* while the end is awaited */
	struct inis_audit_row row;
	json_t *doc;
};

/* It is being started for rq. name: of a process, else NULL. */
void audit_begin(struct audit *a, struct http_request *rq, const struct session *s, enum audit_kind kind,
		 const char *name, const struct inis_str *argv, uint32_t argc);
/* It has ended: with e, or without having run to its end, because of err; with neither its end is not watched. */
void audit_end(struct audit *a, const struct inis_exited *e, const struct inis_error *err);

#endif
