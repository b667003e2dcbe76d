/* SPDX-License-Identifier: Apache-2.0
 *
 * sockets.h - the handler of a WebSocket.
 */
#ifndef INIS_TESTS_HTTP_SOCKETS_H
#define INIS_TESTS_HTTP_SOCKETS_H

#include "http/http.h"

#define SOCKET_MESSAGE_MAX 70000

/*
 * Sends every message back. "bye" is answered with a goodbye, "flood" with data until the client stops reading,
 * "hold" stops reading for good, ?refuse=1 is answered with a plain error.
 */
void get_socket(struct http_request *rq);

#endif
