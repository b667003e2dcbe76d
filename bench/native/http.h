/* SPDX-License-Identifier: Apache-2.0
 *
 * http.h - a lean HTTP/1.1 client on blocking sockets: it costs little beside the server that it measures.
 */
#ifndef INIS_BENCH_HTTP_H
#define INIS_BENCH_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_TEXT_MAX 16384

struct http {
	int fd; /* -1: not connected */
	char buf[65536];
	size_t at, end; /* unread part of buf */
};

struct http_reply {
	int status;
	int64_t length; /* -1: chunked */
	int64_t chunk_left;
	bool over;
};

/* Who is asked, for every connection. */
int http_target(const char *port, const char *token);
/* -1 with errno. */
int http_connect(struct http *h);
void http_close(struct http *h);
/* All of it, on any connected socket. */
int http_write(int fd, const char *data, size_t n);

/* Sends head and body in one piece; length < 0: the head announces -length bytes, which the caller sends. */
int http_send(struct http *h, const char *method, const char *path, const char *body, int64_t length);
/* Reads the head of an answer. */
int http_head(struct http *h, struct http_reply *r);
/* The next piece of the body, which stays in the connection's buffer: its size, 0 at the end, -1 when it is broken. */
ptrdiff_t http_piece(struct http *h, struct http_reply *r, const char **piece);
/* A whole answer as text, cut at HTTP_TEXT_MAX - 1 bytes; returns its status or -1. */
int http_text(struct http *h, char text[static HTTP_TEXT_MAX]);
/* A request and the text of its answer. */
int http_ask(struct http *h, const char *method, const char *path, const char *body, char text[static HTTP_TEXT_MAX]);

#endif
