/* SPDX-License-Identifier: Apache-2.0
 *
 * follow.h - the output of a named process from some position on until it has exited.
 */
#ifndef INIS_CLI_FOLLOW_H
#define INIS_CLI_FOLLOW_H

#include "base/clock.h"
#include "cli/client.h"
#include "cli/session.h"

/* An offset behind all that a process can write. */
#define CLI_LOG_END 9007199254740991ULL

struct cli_follow {
	struct cli_client *client; /* found anew when its server has started again elsewhere */
	const struct cli_session *session;
	const char *name;
	uint64_t from[2]; /* of stdout and stderr; moves on with what was given out */
	inis_ms deadline; /* INIS_NEVER: none */
	int interrupts;
	int (*output)(void *ctx, int fd, const uint8_t *data, size_t n); /* fd 1 or 2; -1 stops */
	void *ctx;
};

enum cli_follow_outcome { CLI_FOLLOW_EXITED, CLI_FOLLOW_STOPPED };

/*
 * A connection that breaks is made again, for a minute, and goes on where it was: nothing is lost or said twice.
 * -1 + err: the process is unknown, the session gone, the server too, or the deadline is over (as cli_fail_late()).
 */
int cli_follow(struct cli_follow *follow, struct inis_error *err);

#endif
