/* SPDX-License-Identifier: Apache-2.0
 *
 * events.h - a call that answers with the output of a command as an event stream.
 */
#ifndef INIS_CLI_EVENTS_H
#define INIS_CLI_EVENTS_H

#include <stdbool.h>

#include "cli/client.h"
#include "cli/sse.h"

struct cli_events {
	struct cli_call call;
	struct cli_sse sse;
	struct inis_buf refusal; /* the answer, when it is not a stream */
	struct inis_buf chunk;
	char failure[256]; /* text of an error event, or of our own */

	/* Set by the caller. fd is 1 or 2; -1 stops the stream. */
	int (*output)(void *user, int fd, const uint8_t *data, size_t n);
	/* An event that is neither output nor an error. */
	void (*other)(void *user, const char *event, const char *data, size_t length);
	void *user;
};

/* output, other and user are set; ev stays where it is. */
void cli_events_init(struct cli_events *ev);
/* Prepares the call; whoever drives its handle gets the events. */
int cli_events_begin(struct cli_events *ev, const struct cli_client *client, const char *method, const char *path,
		     const json_t *body, struct inis_error *err);
/*
 * -1: says why a stream is over without its last event; unfinished is the message when it just ended. again, which may
 * be NULL, becomes whether another attempt could do better.
 */
int cli_events_fail(const struct cli_events *ev, CURLcode result, const char *unfinished, bool *again,
		    struct inis_error *err);
void cli_events_end(struct cli_events *ev);

#endif
