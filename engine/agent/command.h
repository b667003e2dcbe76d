/* SPDX-License-Identifier: Apache-2.0
 *
 * command.h - what a request to run something means: arguments, environment, where the program may be.
 */
#ifndef INIS_AGENT_COMMAND_H
#define INIS_AGENT_COMMAND_H

#include "agent/user.h"
#include "wire/agent_proto.h"

/* Strings that it owns; NULL-terminated. */
struct strings {
	char **v;
	size_t n;
};

struct command {
	struct strings argv;
	struct strings env;
	struct strings paths; /* where the program may be, in order */
	char *cwd; /* absolute */
};

/* Pure but for memory. The environment is the base one of the user with the request's laid over it. */
int command_build(struct command *c, const struct inis_exec *m, const struct guest_user *user, struct inis_error *err);
void command_free(struct command *c);

/* Packs the arguments into b for showing, cut after max bytes of them; returns how many there are. */
uint32_t command_remember(struct inis_buf *b, const struct inis_exec *m, size_t max);

#endif
