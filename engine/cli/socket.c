/* SPDX-License-Identifier: Apache-2.0
 *
 * socket.c - a WebSocket to the server.
 *
 * The HTTP library makes the connection, TLS and all, and leaves the talking to us.
 */
#include "cli/socket.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"

#define MESSAGE_MAX    (((size_t)1 << 20) + 64)
#define ANSWER_MAX     65536
#define ANSWER_WAIT_MS 90000
#define GUID           "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

struct handshake {
	char key[32];
	char accept[32];
};

static int base64_text(const unsigned char *bytes, int n, char out[static 32])
{
	return EVP_EncodeBlock((unsigned char *)out, bytes, n);
}

static int make_handshake(struct handshake *h, struct inis_error *err)
{
	unsigned char nonce[16], digest[EVP_MAX_MD_SIZE];
	char text[96];
	int n;

	if (RAND_bytes(nonce, sizeof(nonce)) != 1)
		return inis_fail(err, INIS_UNAVAILABLE, "no randomness");
	base64_text(nonce, sizeof(nonce), h->key);
	n = snprintf(text, sizeof(text), "%s%s", h->key, GUID);
	if (EVP_Digest(text, (size_t)n, digest, NULL, EVP_sha1(), NULL) != 1)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	base64_text(digest, 20, h->accept);
	return 0;
}

static int broken(const struct cli_socket *s, CURLcode code, struct inis_error *err)
{
	return inis_fail(err, INIS_UNAVAILABLE, "%s: %s", s->call.url,
			 code == CURLE_OK ? "the connection ended" : curl_easy_strerror(code));
}

int cli_socket_flush(struct cli_socket *s, struct inis_error *err)
{
	while (s->out.len > 0) {
		size_t sent = 0;
		CURLcode code = curl_easy_send(s->call.easy, s->out.data, s->out.len, &sent);

		if (code == CURLE_AGAIN)
			return 0;
		if (code != CURLE_OK)
			return broken(s, code, err);
		inis_buf_consume(&s->out, sent);
	}
	return inis_buf_failed(&s->out) ? inis_fail(err, INIS_UNAVAILABLE, "out of memory") : 0;
}

/* ---- handshake ---- */

static void put_request(struct cli_socket *s, const struct cli_client *client, const char *path,
			const struct handshake *h)
{
	const char *host = strstr(client->target.base_url, "://");
	const char *prefix;

	host = host ? host + 3 : client->target.base_url;
	prefix = host + strcspn(host, "/");
	inis_buf_printf(&s->out, "GET %s%s HTTP/1.1\r\nHost: %.*s\r\nAuthorization: Bearer %s\r\n", prefix, path,
			(int)(prefix - host), host, client->target.token);
	inis_buf_printf(&s->out,
			"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
			"Sec-WebSocket-Key: %s\r\nUser-Agent: inis/" INIS_VERSION "\r\n\r\n",
			h->key);
}

/* Reads once, waiting for it; 0 at the end of the connection. */
static ssize_t read_some(struct cli_socket *s, struct inis_buf *answer, inis_ms deadline, struct inis_error *err)
{
	for (;;) {
		struct pollfd ready = {.fd = s->fd, .events = POLLIN};
		uint8_t *to = inis_buf_reserve(answer, 4096);
		inis_ms left = deadline - inis_now_ms();
		size_t n = 0;
		CURLcode code = to ? curl_easy_recv(s->call.easy, to, 4096, &n) : CURLE_OUT_OF_MEMORY;

		if (code == CURLE_OK) {
			answer->len += n;
			return (ssize_t)n;
		}
		if (code != CURLE_AGAIN)
			return broken(s, code, err);
		if (left <= 0 || poll(&ready, 1, (int)left) == 0)
			return inis_fail(err, INIS_UNAVAILABLE, "%s: no answer", s->call.url);
	}
}

/* Where the body begins; 0: the head is not whole. */
static size_t head_length(const struct inis_buf *answer)
{
	const uint8_t *end = answer->len ? memmem(answer->data, answer->len, "\r\n\r\n", 4) : NULL;

	return end ? (size_t)(end - answer->data) + 4 : 0;
}

static const char *header(const char *head, const char *name, size_t *n)
{
	size_t length = strlen(name);

	for (const char *line = strstr(head, "\r\n"); line && line[2] != '\r'; line = strstr(line + 2, "\r\n")) {
		if (strncasecmp(line + 2, name, length) != 0 || line[2 + length] != ':')
			continue;
		line += 3 + length;
		line += strspn(line, " \t");
		*n = strcspn(line, "\r");
		return line;
	}
	return NULL;
}

static int refused(struct cli_socket *s, struct inis_buf *answer, const char *head, size_t body, inis_ms deadline,
		   struct inis_error *err)
{
	const char *text = NULL, *code = NULL, *length;
	size_t n = 0, want;
	json_t *reply;
	int status = 0;

	length = header(head, "Content-Length", &n);
	want = length ? strtoul(length, NULL, 10) : 0;
	while (answer->len - body < want && read_some(s, answer, deadline, NULL) > 0)
		;
	sscanf(head, "HTTP/1.1 %d", &status);
	reply = json_loadb((const char *)answer->data + body, answer->len - body, 0, NULL);
	if (json_unpack(reply, "{s:s, s?s}", "error", &text, "code", &code) < 0)
		text = NULL;
	inis_fail(err, INIS_INTERNAL, "%s (%s, HTTP %d)", text ? text : "the server refused the terminal",
		  code ? code : "error", status);
	json_decref(reply);
	return -1;
}

static int read_answer(struct cli_socket *s, const struct handshake *h, struct inis_buf *answer, struct inis_error *err)
{
	inis_ms deadline = inis_deadline_in(ANSWER_WAIT_MS);
	char head[8192];
	const char *accept;
	size_t body, n = 0;

	while ((body = head_length(answer)) == 0) {
		ssize_t got = read_some(s, answer, deadline, err);

		if (got <= 0)
			return got < 0 ? -1 : broken(s, CURLE_OK, err);
	}
	snprintf(head, sizeof(head), "%.*s", (int)body, (const char *)answer->data);
	if (strncmp(head, "HTTP/1.1 101 ", 13) != 0)
		return refused(s, answer, head, body, deadline, err);
	accept = header(head, "Sec-WebSocket-Accept", &n);
	if (!accept || n != strlen(h->accept) || memcmp(accept, h->accept, n) != 0)
		return inis_fail(err, INIS_INTERNAL, "%s: the server does not speak WebSocket", s->call.url);
	inis_buf_consume(answer, body);
	return 0;
}

static int connect_only(struct cli_socket *s, struct inis_error *err)
{
	curl_socket_t fd = CURL_SOCKET_BAD;
	CURLcode code;

	curl_easy_setopt(s->call.easy, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(s->call.easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
	code = curl_easy_perform(s->call.easy);
	if (code == CURLE_OK)
		code = curl_easy_getinfo(s->call.easy, CURLINFO_ACTIVESOCKET, &fd);
	if (code != CURLE_OK)
		return broken(s, code, err);
	s->fd = fd;
	return 0;
}

int cli_socket_open(struct cli_socket *s, const struct cli_client *client, const char *path, struct inis_error *err)
{
	struct handshake h;

	*s = (struct cli_socket){.call = CLI_CALL_INIT, .fd = -1};
	ws_reader_init(&s->reader, false, MESSAGE_MAX);
	if (cli_call_begin(&s->call, client, "GET", path, NULL, err) < 0 || make_handshake(&h, err) < 0 ||
	    connect_only(s, err) < 0)
		return -1;
	put_request(s, client, path, &h);
	s->early = (struct inis_buf)INIS_BUF_INIT(ANSWER_MAX);
	if (cli_socket_flush(s, err) < 0)
		return -1;
	return read_answer(s, &h, &s->early, err);
}

void cli_socket_close(struct cli_socket *s)
{
	cli_call_end(&s->call);
	ws_reader_free(&s->reader);
	inis_buf_free(&s->out);
	inis_buf_free(&s->early);
}

/* ---- messages ---- */

static void put(struct cli_socket *s, enum ws_opcode opcode, const void *data, size_t n)
{
	uint8_t mask[4] = {0};

	/* Against confused proxies, not for secrecy: without randomness it goes as it is. */
	RAND_bytes(mask, sizeof(mask));
	ws_put(&s->out, opcode, mask, data, n);
}

void cli_socket_send(struct cli_socket *s, uint8_t type, const void *data, size_t n)
{
	struct inis_buf message = INIS_BUF_INIT(0);

	inis_buf_append(&message, &type, 1);
	inis_buf_append(&message, data, n);
	put(s, WS_BINARY, message.data, message.len);
	s->out.failed |= message.failed;
	inis_buf_free(&message);
}

static int on_item(struct cli_socket *s, const struct ws_item *item, cli_socket_message on_message, void *ctx)
{
	switch (item->opcode) {
	case WS_BINARY:
		return on_message(ctx, item->data, item->n);
	case WS_PING:
		put(s, WS_PONG, item->data, item->n);
		return 0;
	case WS_CLOSE:
		s->over = true;
		s->status = ws_close_status(item->data, item->n);
		return -1;
	default:
		return 0;
	}
}

/* false: enough. */
static bool take(struct cli_socket *s, const uint8_t *data, size_t n, cli_socket_message on_message, void *ctx)
{
	for (size_t at = 0, used; at < n; at += used) {
		struct ws_item item;
		int got = ws_read(&s->reader, data + at, n - at, &used, &item);

		if (got < 0)
			s->over = true;
		if (got < 0 || (got > 0 && on_item(s, &item, on_message, ctx) < 0))
			return false;
	}
	return true;
}

int cli_socket_read(struct cli_socket *s, cli_socket_message on_message, void *ctx, struct inis_error *err)
{
	static uint8_t space[65536];
	struct inis_buf early = s->early;
	bool more;

	/* What came with the answer to the handshake. */
	s->early = (struct inis_buf)INIS_BUF_INIT(0);
	more = take(s, early.data, early.len, on_message, ctx);
	inis_buf_free(&early);
	while (more) {
		size_t n = 0;
		CURLcode code = curl_easy_recv(s->call.easy, space, sizeof(space), &n);

		if (code == CURLE_AGAIN)
			return 0;
		if (code != CURLE_OK)
			return broken(s, code, err);
		if (n == 0)
			s->over = true;
		more = n > 0 && take(s, space, n, on_message, ctx);
	}
	return 0;
}
