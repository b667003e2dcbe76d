/* SPDX-License-Identifier: Apache-2.0
 *
 * sock.c - the socket of a connection.
 *
 * Two buffers make the write queue: `flying` is with the loop and must not move,
 * `waiting` gathers what comes meanwhile. They swap when the first has landed.
 */
#include "http/sock.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/metrics.h"

#define KEEPALIVE_S 60
#define KEEP_BUFFER (16 * 1024)

static void on_alloc(uv_handle_t *handle, size_t hint, uv_buf_t *buf)
{
	struct http_sock *s = handle->data;

	(void)hint;
	*buf = uv_buf_init(s->read_space, HTTP_READ_SIZE);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct http_sock *s = stream->data;

	if (n > 0) {
		inis_count_n(&inis_metrics.bytes_received, (uint64_t)n);
		http_conn_input(s->conn, (const uint8_t *)buf->base, (size_t)n);
	} else if (n == UV_EOF) {
		http_conn_eof(s->conn);
	} else if (n < 0) {
		http_conn_lost(s->conn);
	}
}

int http_sock_accept(struct http_sock *s, struct http_conn *conn, uv_stream_t *listener, char *read_space)
{
	if (uv_tcp_init(listener->loop, &s->tcp) < 0)
		return -1;
	s->tcp.data = s;
	s->conn = conn;
	s->read_space = read_space;
	s->seen_at = uv_now(listener->loop);
	if (uv_accept(listener, (uv_stream_t *)&s->tcp) < 0) {
		http_sock_close(s, false);
		return 0;
	}
	uv_tcp_nodelay(&s->tcp, 1);
	uv_tcp_keepalive(&s->tcp, 1, KEEPALIVE_S);
	return 0;
}

void http_sock_read(struct http_sock *s, bool on)
{
	if (s->reading == on || s->closing)
		return;
	s->reading = on;
	if (!on)
		uv_read_stop((uv_stream_t *)&s->tcp);
	else if (uv_read_start((uv_stream_t *)&s->tcp, on_alloc, on_read) < 0)
		s->broken = true;
}

static void on_shutdown(uv_shutdown_t *rq, int status)
{
	struct http_sock *s = rq->handle->data;

	if (status < 0)
		s->broken = true;
	if (!s->closing)
		http_conn_sent(s->conn);
}

static void finish(struct http_sock *s)
{
	if (uv_shutdown(&s->shutdown, (uv_stream_t *)&s->tcp, on_shutdown) < 0)
		s->broken = true;
}

static void on_written(uv_write_t *rq, int status);

static void fly(struct http_sock *s)
{
	struct inis_buf landed = s->flying;
	uv_buf_t buf;

	s->flying = s->waiting;
	s->waiting = landed;
	buf = uv_buf_init((char *)s->flying.data, (unsigned)s->flying.len);
	s->flight = true;
	if (uv_write(&s->write, (uv_stream_t *)&s->tcp, &buf, 1, on_written) < 0) {
		s->flight = false;
		s->broken = true;
	}
}

static void on_written(uv_write_t *rq, int status)
{
	struct http_sock *s = rq->handle->data;

	s->flight = false;
	if (status == 0)
		inis_count_n(&inis_metrics.bytes_sent, s->flying.len);
	inis_buf_reset(&s->flying);
	if (s->flying.cap > KEEP_BUFFER)
		inis_buf_free(&s->flying);
	if (status < 0)
		s->broken = true;
	if (s->closing)
		return;
	if (!s->broken && s->waiting.len > 0)
		fly(s);
	else if (!s->broken && s->ending)
		finish(s);
	http_conn_sent(s->conn);
}

/* Bytes of bufs that the kernel took at once; -1 when the socket is broken. */
static ssize_t try_now(struct http_sock *s, const uv_buf_t *bufs, unsigned count)
{
	int sent;

	if (s->flight)
		return 0;
	sent = uv_try_write((uv_stream_t *)&s->tcp, bufs, count);
	return sent == UV_EAGAIN ? 0 : sent;
}

void http_sock_write(struct http_sock *s, const uv_buf_t *bufs, unsigned count)
{
	ssize_t sent;

	if (s->broken || s->closing || s->ending)
		return;
	sent = try_now(s, bufs, count);
	if (sent < 0) {
		s->broken = true;
		return;
	}
	inis_count_n(&inis_metrics.bytes_sent, (uint64_t)sent);
	for (unsigned i = 0; i < count; i++) {
		size_t skip = (size_t)sent < bufs[i].len ? (size_t)sent : bufs[i].len;

		sent -= (ssize_t)skip;
		inis_buf_append(&s->waiting, bufs[i].base + skip, bufs[i].len - skip);
		s->queued += bufs[i].len - skip;
	}
	if (inis_buf_failed(&s->waiting))
		s->broken = true;
	else if (!s->flight && s->waiting.len > 0)
		fly(s);
}

size_t http_sock_unsent(const struct http_sock *s)
{
	return (s->flight ? uv_stream_get_write_queue_size((const uv_stream_t *)&s->tcp) : 0) + s->waiting.len;
}

bool http_sock_stalled(struct http_sock *s, uint64_t now, uint64_t ms)
{
	size_t unsent = http_sock_unsent(s);

	if (unsent == 0 || s->queued - unsent != s->seen_sent) {
		s->seen_sent = s->queued - unsent;
		s->seen_at = now;
	}
	return now - s->seen_at > ms;
}

static bool ask_kernel(const struct http_sock *s, struct tcp_info *info)
{
	socklen_t n = sizeof(*info);
	uv_os_fd_t fd;

	return uv_fileno((const uv_handle_t *)&s->tcp, &fd) == 0 &&
	       getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &n) == 0;
}

uint64_t http_sock_unheard_ms(const struct http_sock *s)
{
	struct tcp_info info;

	return ask_kernel(s, &info) && info.tcpi_unacked > 0 ? info.tcpi_last_ack_recv : 0;
}

bool http_sock_peer_gone(const struct http_sock *s)
{
	struct tcp_info info;

	if (s->broken)
		return true;
	if (!ask_kernel(s, &info))
		return false;
	return info.tcpi_state == TCP_CLOSE || info.tcpi_state == TCP_CLOSE_WAIT;
}

bool http_sock_peer_is_local(const struct http_sock *s)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a = {0};
	int n = sizeof(a);

	if (uv_tcp_getpeername(&s->tcp, (struct sockaddr *)&a.any, &n) < 0)
		return false;
	if (a.any.ss_family == AF_INET)
		return ntohl(a.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr) ||
	       (IN6_IS_ADDR_V4MAPPED(&a.v6.sin6_addr) && a.v6.sin6_addr.s6_addr[12] == IN_LOOPBACKNET);
}

void http_sock_end(struct http_sock *s)
{
	if (s->ending || s->closing)
		return;
	s->ending = true;
	if (!s->flight && !s->broken)
		finish(s);
}

static void on_closed(uv_handle_t *handle)
{
	struct http_sock *s = handle->data;

	inis_buf_free(&s->flying);
	inis_buf_free(&s->waiting);
	http_conn_closed(s->conn);
}

void http_sock_close(struct http_sock *s, bool reset)
{
	if (s->closing)
		return;
	s->closing = true;
	if (reset && uv_tcp_close_reset(&s->tcp, on_closed) == 0)
		return;
	uv_close((uv_handle_t *)&s->tcp, on_closed);
}
