/* SPDX-License-Identifier: Apache-2.0
 *
 * client.h - a blocking client that sends exactly the bytes a test wants.
 */
#ifndef INIS_TESTS_HTTP_CLIENT_H
#define INIS_TESTS_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct answer {
	int status;
	char head[4096];
	char *body; /* NUL-terminated, chunks joined */
	size_t body_len;
	bool whole; /* framing says that it is complete */
};

int client_connect(int port);
void client_send(int fd, const char *text);
/* Sends n bytes; false when the peer does not take them. */
bool client_send_bytes(int fd, const void *data, size_t n);
/* Reads one answer; status 0 when the connection ended before one came. Free with answer_free(). */
void client_read(int fd, struct answer *a);
/* Reads the head of an answer only. */
void client_read_head(int fd, struct answer *a);
/* Sends text on a connection of its own and reads one answer. */
void client_ask_raw(int port, const char *text, struct answer *a);
/* One request on a connection of its own: head lines as given, with key and Host added. */
void client_ask(int port, const char *request_line, const char *body, struct answer *a);
/* Whether the peer has closed, waiting for it. */
bool client_sees_end(int fd);
void answer_free(struct answer *a);

#define CLIENT_KEY "Host: test\r\nAuthorization: Bearer sk_test\r\n"

#endif
