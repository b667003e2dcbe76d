/* SPDX-License-Identifier: Apache-2.0
 *
 * client.c - a blocking client that sends exactly the bytes a test wants.
 */
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define PATIENCE_S 60

int client_connect(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				 .sin_port = htons((unsigned short)port)};
	struct timeval patience = {.tv_sec = PATIENCE_S};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		abort();
	return fd;
}

bool client_send_bytes(int fd, const void *data, size_t n)
{
	const char *at = data;

	while (n > 0) {
		ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		at += sent;
		n -= (size_t)sent;
	}
	return true;
}

void client_send(int fd, const char *text)
{
	client_send_bytes(fd, text, strlen(text));
}

static bool read_exactly(int fd, char *to, size_t n)
{
	while (n > 0) {
		ssize_t got = recv(fd, to, n, 0);

		if (got <= 0)
			return false;
		to += got;
		n -= (size_t)got;
	}
	return true;
}

/* Reads up to and with an end mark. */
static bool read_until(int fd, char *to, size_t size, const char *mark)
{
	size_t n = 0, len = strlen(mark);

	while (n + 1 < size && read_exactly(fd, to + n, 1)) {
		to[++n] = '\0';
		if (n >= len && strcmp(to + n - len, mark) == 0)
			return true;
	}
	return false;
}

static bool read_body(int fd, struct answer *a, size_t n)
{
	a->body = realloc(a->body, a->body_len + n + 1);
	if (!read_exactly(fd, a->body + a->body_len, n))
		return false;
	a->body_len += n;
	a->body[a->body_len] = '\0';
	return true;
}

static bool read_chunks(int fd, struct answer *a)
{
	char line[64];

	for (;;) {
		size_t n;

		if (!read_until(fd, line, sizeof(line), "\r\n"))
			return false;
		n = strtoul(line, NULL, 16);
		if (n > 0 && !read_body(fd, a, n))
			return false;
		if (!read_until(fd, line, sizeof(line), "\r\n"))
			return false;
		if (n == 0)
			return true;
	}
}

void client_read_head(int fd, struct answer *a)
{
	memset(a, 0, sizeof(*a));
	a->body = calloc(1, 1);
	if (!read_until(fd, a->head, sizeof(a->head), "\r\n\r\n") || sscanf(a->head, "HTTP/1.1 %d", &a->status) != 1)
		a->status = 0;
}

void client_read(int fd, struct answer *a)
{
	const char *length;

	client_read_head(fd, a);
	if (a->status == 0)
		return;
	length = strcasestr(a->head, "\r\nContent-Length: ");
	if (strcasestr(a->head, "\r\nTransfer-Encoding: chunked\r\n"))
		a->whole = read_chunks(fd, a);
	else if (length)
		a->whole = read_body(fd, a, strtoul(length + 18, NULL, 10));
	else
		a->whole = true;
}

void client_ask_raw(int port, const char *text, struct answer *a)
{
	int fd = client_connect(port);

	client_send(fd, text);
	client_read(fd, a);
	close(fd);
}

void client_ask(int port, const char *request_line, const char *body, struct answer *a)
{
	int fd = client_connect(port);
	char length[64] = "";

	client_send(fd, request_line);
	client_send(fd, "\r\n" CLIENT_KEY);
	if (body)
		snprintf(length, sizeof(length), "Content-Length: %zu\r\n", strlen(body));
	client_send(fd, length);
	client_send(fd, "\r\n");
	client_send(fd, body ? body : "");
	client_read(fd, a);
	close(fd);
}

bool client_sees_end(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, 0);

	return n == 0 || (n < 0 && errno == ECONNRESET);
}

void answer_free(struct answer *a)
{
	free(a->body);
	a->body = NULL;
}
