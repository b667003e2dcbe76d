/* SPDX-License-Identifier: Apache-2.0
 *
 * command.h - the members that execs and processes have in common: argv, cwd, env.
 */
#ifndef INIS_API_COMMAND_H
#define INIS_API_COMMAND_H

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "session/spec.h"
#include "wire/agent_proto.h"

#define COMMAND_TOTAL_MAX (1024 * 1024)
#define COMMAND_ARG_MAX   131071 /* the kernel's limit of one argument */

/* Texts point into the request body, which must outlive it; the environment is built here. */
struct command {
	struct inis_str *argv;
	uint32_t argc;
	const char *cwd; /* NULL = the default */
	struct inis_buf env_text; /* wiped when freed: it holds secrets */
	struct inis_str *env;
	uint32_t envc;
	json_t *call_env; /* borrowed: of this call only */
};

/* Members "command", "cwd" and "env" of body. */
int command_read(struct command *c, const json_t *body, struct inis_error *err);
/* Member "timeout_ms": within bounds, or the usual one. */
int command_timeout(const json_t *body, int64_t *ms, struct inis_error *err);
/* Session environment, over it its secrets, over those the call's own. */
int command_merge_env(struct command *c, const struct session_spec *spec, struct inis_error *err);
void command_free(struct command *c);
/* Fills argv, env and cwd of a message. */
void command_put(const struct command *c, struct inis_exec *m);

#endif
