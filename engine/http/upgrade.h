/* SPDX-License-Identifier: Apache-2.0
 *
 * upgrade.h - connections that have left HTTP, as the files of this layer share them.
 */
#ifndef INIS_HTTP_UPGRADE_H
#define INIS_HTTP_UPGRADE_H

#include "http/conn.h"

/* Whether the head of rq is a sound handshake. */
int http_upgrade_check(struct http_request *rq, struct inis_error *err);
#define HTTP_ACCEPT_SIZE 29 /* 20 bytes in base64, and a NUL */
int http_upgrade_accept_key(const char *key, char out[static HTTP_ACCEPT_SIZE], struct inis_error *err);

/* Input in state HTTP_CONN_SOCKET: handles frames until the socket is held or over; returns the bytes used. */
size_t http_socket_input(struct http_conn *c);
/* Pings and looks whether the peer is there. */
void http_socket_tick(struct http_conn *c, uint64_t now);
/* The server is stopping. */
void http_socket_drain(struct http_conn *c);
void http_socket_free(struct websocket *ws);

#endif
