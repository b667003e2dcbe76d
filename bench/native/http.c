/* SPDX-License-Identifier: Apache-2.0
 *
 * http.c - requests and answers; believes the server only as far as its own buffers go.
 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in server = {.sin_family = AF_INET};
static char authority[256];

int http_target(const char *port, const char *token)
{
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	return snprintf(authority, sizeof(authority), "Host: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\n", port,
			token) < (int)sizeof(authority)
		       ? 0
		       : -1;
}

int http_connect(struct http *h)
{
	int on = 1;

	h->at = h->end = 0;
	h->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (h->fd < 0)
		return -1;
	setsockopt(h->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(h->fd, (struct sockaddr *)&server, sizeof(server)) == 0)
		return 0;
	http_close(h);
	return -1;
}

void http_close(struct http *h)
{
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
}

int http_write(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, data, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -1;
		data += sent;
		n -= (size_t)sent;
	}
	return 0;
}

int http_send(struct http *h, const char *method, const char *path, const char *body, int64_t length)
{
	char text[8192];
	int n = snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\n%sContent-Length: %lld\r\n%s\r\n%s", method, path,
			 authority, (long long)(length < 0 ? -length : (int64_t)strlen(body)),
			 length < 0 || !body[0] ? "" : "Content-Type: application/json\r\n", length < 0 ? "" : body);

	if (n < 0 || n >= (int)sizeof(text)) {
		errno = EMSGSIZE;
		return -1;
	}
	return http_write(h->fd, text, (size_t)n);
}

/* More bytes behind those that are unread. */
static int fill(struct http *h)
{
	ssize_t n;

	if (h->at == h->end)
		h->at = h->end = 0;
	if (h->end == sizeof(h->buf)) {
		memmove(h->buf, h->buf + h->at, h->end - h->at);
		h->end -= h->at;
		h->at = 0;
	}
	if (h->end == sizeof(h->buf)) {
		errno = EMSGSIZE;
		return -1;
	}
	do {
		n = recv(h->fd, h->buf + h->end, sizeof(h->buf) - h->end, 0);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		errno = ECONNRESET;
	if (n <= 0)
		return -1;
	h->end += (size_t)n;
	return 0;
}

/* The next line without its end, ended by NUL in place. */
static char *line(struct http *h)
{
	for (;;) {
		char *start = h->buf + h->at;
		char *nl = memchr(start, '\n', h->end - h->at);

		if (nl) {
			h->at = (size_t)(nl + 1 - h->buf);
			*nl = '\0';
			if (nl > start && nl[-1] == '\r')
				nl[-1] = '\0';
			return start;
		}
		if (fill(h) < 0)
			return NULL;
	}
}

int http_head(struct http *h, struct http_reply *r)
{
	char *text = line(h);

	if (!text || strncmp(text, "HTTP/1.1 ", 9) != 0)
		return -1;
	*r = (struct http_reply){.status = (int)strtol(text + 9, NULL, 10)};
	while ((text = line(h)) && text[0]) {
		if (strncasecmp(text, "content-length:", 15) == 0)
			r->length = strtoll(text + 15, NULL, 10);
		else if (strncasecmp(text, "transfer-encoding:", 18) == 0)
			r->length = -1;
	}
	return text ? 0 : -1;
}

/* Moves on to a chunk with bytes left; 0 at the last one. */
static int next_chunk(struct http *h, struct http_reply *r)
{
	char *text = line(h);

	if (!text)
		return -1;
	r->chunk_left = strtoll(text, NULL, 16);
	if (r->chunk_left > 0)
		return 1;
	r->over = true;
	return line(h) ? 0 : -1;
}

ptrdiff_t http_piece(struct http *h, struct http_reply *r, const char **piece)
{
	int64_t *left = r->length < 0 ? &r->chunk_left : &r->length;
	size_t n;

	if (r->over || (r->length == 0))
		return 0;
	if (r->length < 0 && *left == 0) {
		int more = next_chunk(h, r);

		if (more <= 0)
			return more;
	}
	if (h->at == h->end && fill(h) < 0)
		return -1;
	n = h->end - h->at;
	if ((int64_t)n > *left)
		n = (size_t)*left;
	*piece = h->buf + h->at;
	h->at += n;
	*left -= (int64_t)n;
	if (r->length < 0 && *left == 0 && !line(h))
		return -1;
	r->over = r->length == 0;
	return (ptrdiff_t)n;
}

int http_text(struct http *h, char text[static HTTP_TEXT_MAX])
{
	struct http_reply r;
	const char *piece;
	size_t have = 0;
	ptrdiff_t n;

	if (http_head(h, &r) < 0)
		return -1;
	while ((n = http_piece(h, &r, &piece)) > 0) {
		size_t room = HTTP_TEXT_MAX - 1 - have;
		size_t take = (size_t)n < room ? (size_t)n : room;

		memcpy(text + have, piece, take);
		have += take;
	}
	text[have] = '\0';
	return n < 0 ? -1 : r.status;
}

int http_ask(struct http *h, const char *method, const char *path, const char *body, char text[static HTTP_TEXT_MAX])
{
	if (h->fd < 0 && http_connect(h) < 0)
		return -1;
	return http_send(h, method, path, body, 0) < 0 ? -1 : http_text(h, text);
}
