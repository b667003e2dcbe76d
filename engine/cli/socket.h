/* SPDX-License-Identifier: Apache-2.0
 *
 * socket.h - a WebSocket to the server, driven by the caller's poll().
 */
#ifndef INIS_CLI_SOCKET_H
#define INIS_CLI_SOCKET_H

#include "base/websocket.h"
#include "cli/client.h"

struct cli_socket {
	struct cli_call call;
	struct ws_reader reader;
	struct inis_buf out; /* waiting to be sent */
	struct inis_buf early; /* came with the handshake's answer */
	int fd; /* to poll */
	bool over; /* the server has said goodbye or is gone */
	int status; /* with which it said goodbye; 0: none */
};

/* Leaves what is to be freed with cli_socket_close(), also when it fails. */
int cli_socket_open(struct cli_socket *s, const struct cli_client *client, const char *path, struct inis_error *err);
void cli_socket_close(struct cli_socket *s);

/* Queues one binary message. */
void cli_socket_send(struct cli_socket *s, uint8_t type, const void *data, size_t n);
/* Sends what can be sent now. */
int cli_socket_flush(struct cli_socket *s, struct inis_error *err);

/* A whole binary message; -1 ends the reading. */
typedef int (*cli_socket_message)(void *ctx, const uint8_t *data, size_t n);
/* Reads and handles all that is there. */
int cli_socket_read(struct cli_socket *s, cli_socket_message on_message, void *ctx, struct inis_error *err);

#endif
