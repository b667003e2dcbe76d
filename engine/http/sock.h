/* SPDX-License-Identifier: Apache-2.0
 *
 * sock.h - the socket of a connection: reading on and off, a write queue, closing.
 *
 * Writes go out at once as far as the kernel takes them; the rest is copied and
 * follows. A failed write marks the socket broken and drops what comes after;
 * whoever writes does not care, the connection finds out on its next turn.
 */
#ifndef INIS_HTTP_SOCK_H
#define INIS_HTTP_SOCK_H

#include <stdbool.h>
#include <uv.h>

#include "base/buf.h"

#define HTTP_READ_SIZE (64 * 1024)

struct http_conn;

struct http_sock {
	uv_tcp_t tcp;
	uv_write_t write;
	uv_shutdown_t shutdown;
	struct http_conn *conn;
	char *read_space; /* HTTP_READ_SIZE bytes, shared by all: a read is used before the next one */
	struct inis_buf flying; /* with the event loop */
	struct inis_buf waiting; /* behind it */
	uint64_t queued; /* bytes ever queued */
	uint64_t seen_sent; /* how many of them were gone, */
	uint64_t seen_at; /* at this time */
	bool reading;
	bool flight;
	bool ending; /* nothing follows what is queued */
	bool broken;
	bool closing;
};

/* Takes the next connection of a listener. On failure nothing is left to close. */
int http_sock_accept(struct http_sock *s, struct http_conn *conn, uv_stream_t *listener, char *read_space);
void http_sock_read(struct http_sock *s, bool on);
void http_sock_write(struct http_sock *s, const uv_buf_t *bufs, unsigned count);
/* Bytes that the kernel has not taken yet. */
size_t http_sock_unsent(const struct http_sock *s);
/* Whether something is unsent and nothing of it went for ms. Ask regularly. */
bool http_sock_stalled(struct http_sock *s, uint64_t now, uint64_t ms);
/* Whether the peer has closed its end; for a time in which nothing is read. */
bool http_sock_peer_gone(const struct http_sock *s);
/* Whether the peer is on this machine, as far as its address says. */
bool http_sock_peer_is_local(const struct http_sock *s);
/* How long ago the peer's kernel gave the last sign of life, while it owes one; else 0. */
uint64_t http_sock_unheard_ms(const struct http_sock *s);
/* Ends the outgoing direction when all is sent. */
void http_sock_end(struct http_sock *s);
/* Closes now; with reset, so that the peer sees an error. */
void http_sock_close(struct http_sock *s, bool reset);

/* What the connection is told; implemented by conn.c. */
void http_conn_input(struct http_conn *c, const uint8_t *data, size_t n);
void http_conn_eof(struct http_conn *c);
void http_conn_lost(struct http_conn *c);
void http_conn_sent(struct http_conn *c);
void http_conn_closed(struct http_conn *c);

#endif
