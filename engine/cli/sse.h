/* SPDX-License-Identifier: Apache-2.0
 *
 * sse.h - reads server-sent events as they arrive: one event per data line, its
 * type from the latest event line.
 */
#ifndef INIS_CLI_SSE_H
#define INIS_CLI_SSE_H

#include <stddef.h>

#include "base/buf.h"

#define CLI_SSE_LINE_MAX ((size_t)16 * 1024 * 1024)

/* data is not NUL-terminated. Returns -1 to stop. */
typedef int (*cli_sse_handler)(void *user, const char *event, const char *data, size_t length);

struct cli_sse {
	struct inis_buf line;
	char event[32];
	char id[48]; /* of the latest id line; "" before any */
	cli_sse_handler handler;
	void *user;
};

#define CLI_SSE_INIT(handler_, user_)                                                     \
	{                                                                                 \
		.line = {.max = CLI_SSE_LINE_MAX}, .handler = (handler_), .user = (user_) \
	}

void cli_sse_free(struct cli_sse *sse);
#define cleanup_sse __attribute__((cleanup(cli_sse_free)))

/* -1 when the handler stopped, a line is too long, or there is no memory. */
int cli_sse_feed(struct cli_sse *sse, const char *data, size_t length);

#endif
