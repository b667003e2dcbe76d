/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.c - answers in pieces.
 */
#include <stdio.h>

#include "http/respond.h"
#include "http/server.h"

void http_stream_begin(struct http_request *rq, int status, const char *content_type, int64_t length,
		       void (*on_drain)(struct http_request *rq, void *ctx))
{
	rq->answer = HTTP_ANSWER_STREAM;
	rq->status = status;
	rq->announced = length;
	rq->on_drain = on_drain;
	if (!rq->conn)
		return;
	rq->written_at = uv_now(rq->conn->server->loop);
	http_write_answer(rq, status, content_type, length, NULL, 0);
}

static void write_chunk(struct http_sock *sock, const void *data, size_t n)
{
	char size[24];
	uv_buf_t bufs[3];

	bufs[0] = uv_buf_init(size, (unsigned)snprintf(size, sizeof(size), "%zx\r\n", n));
	bufs[1] = (uv_buf_t){.base = (char *)data, .len = n};
	bufs[2] = (uv_buf_t){.base = (char *)"\r\n", .len = 2};
	http_sock_write(sock, bufs, 3);
}

bool http_stream_write(struct http_request *rq, const void *data, size_t n)
{
	struct http_sock *sock;
	uv_buf_t buf = {.base = (char *)data, .len = n};

	if (n == 0 || !rq->conn)
		return true;
	sock = &rq->conn->sock;
	rq->sent += n;
	rq->written_at = uv_now(rq->conn->server->loop);
	if (rq->bodiless || (rq->announced >= 0 && rq->sent > (uint64_t)rq->announced))
		return true;
	if (rq->chunked)
		write_chunk(sock, data, n);
	else
		http_sock_write(sock, &buf, 1);
	if (http_sock_unsent(sock) <= HTTP_WRITE_HIGH)
		return true;
	rq->full = true;
	return false;
}

void http_stream_end(struct http_request *rq, bool ok)
{
	static char last[] = "0\r\n\r\n";
	uv_buf_t buf = uv_buf_init(last, sizeof(last) - 1);
	bool whole = ok && (rq->announced < 0 || rq->bodiless || rq->sent == (uint64_t)rq->announced);

	if (rq->conn && whole && rq->chunked && !rq->bodiless)
		http_sock_write(&rq->conn->sock, &buf, 1);
	http_finish(rq, !whole);
}
