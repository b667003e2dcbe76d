/* SPDX-License-Identifier: Apache-2.0
 *
 * transfer.c - many bytes: through the server, and through a plain socket program as what it is held against.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http.h"
#include "stopwatch.h"

#define PIECE 65536

/* Where bytes go: a file that is digested on the way, or nowhere. */
struct sink {
	int fd;
	EVP_MD_CTX *sha;
	int64_t bytes;
};

static int sink_open(struct sink *s, const char *file)
{
	*s = (struct sink){.fd = -1};
	if (strcmp(file, "-") == 0)
		return 0;
	s->fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	s->sha = EVP_MD_CTX_new();
	return s->fd < 0 || !s->sha || !EVP_DigestInit_ex(s->sha, EVP_sha256(), NULL) ? -1 : 0;
}

static int sink_write(struct sink *s, const char *data, size_t n)
{
	s->bytes += (int64_t)n;
	if (s->fd < 0)
		return 0;
	if (!EVP_DigestUpdate(s->sha, data, n))
		return -1;
	while (n > 0) {
		ssize_t wrote = write(s->fd, data, n);

		if (wrote < 0)
			return -1;
		data += wrote;
		n -= (size_t)wrote;
	}
	return 0;
}

static void sink_close(struct sink *s, char hex[static 65])
{
	unsigned char digest[32];

	strcpy(hex, "-");
	if (s->sha && EVP_DigestFinal_ex(s->sha, digest, NULL)) {
		for (size_t i = 0; i < sizeof(digest); i++)
			snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	}
	EVP_MD_CTX_free(s->sha);
	if (s->fd >= 0)
		close(s->fd);
}

static struct http conn = {.fd = -1};

int verb_fetch(int count, char **words)
{
	struct http_reply r = {0};
	struct sink s;
	const char *piece;
	ptrdiff_t n = -1;
	char hex[65];
	int64_t from;

	if (count != 5)
		return refuse("fetch: METHOD PATH BODY FILE|-");
	if (sink_open(&s, words[4]) < 0 || http_connect(&conn) < 0)
		return refuse("fetch: %s", strerror(errno));
	from = now_ns();
	if (http_send(&conn, words[1], words[2], words[3], 0) == 0 && http_head(&conn, &r) == 0) {
		while ((n = http_piece(&conn, &r, &piece)) > 0) {
			if (sink_write(&s, piece, (size_t)n) < 0)
				break;
		}
	}
	sink_close(&s, hex);
	from = now_ns() - from;
	http_close(&conn);
	if (n != 0 || r.status != 200)
		return refuse("fetch %s: status %d", words[2], r.status);
	printf("ok\t%lld\t%lld\t%s\n", (long long)from, (long long)s.bytes, hex);
	return 0;
}

/* The same bytes for everybody; no two pieces of 4 KiB in a piece are alike. */
static void pattern(char piece[static PIECE])
{
	uint32_t x = 2463534242;

	for (size_t i = 0; i < PIECE; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		piece[i] = (char)x;
	}
}

static int pour(int fd, int64_t bytes)
{
	static char piece[PIECE];

	pattern(piece);
	for (; bytes > 0; bytes -= PIECE) {
		if (http_write(fd, piece, bytes < PIECE ? (size_t)bytes : PIECE) < 0)
			return -1;
	}
	return 0;
}

int verb_put(int count, char **words)
{
	static char text[HTTP_TEXT_MAX];
	int64_t bytes = count == 3 ? strtoll(words[2], NULL, 10) : 0;
	int64_t from;
	int status;

	if (bytes <= 0)
		return refuse("put: PATH BYTES");
	if (http_connect(&conn) < 0)
		return refuse("put: %s", strerror(errno));
	from = now_ns();
	status = http_send(&conn, "PUT", words[1], "", -bytes) < 0 || pour(conn.fd, bytes) < 0 ? -1
											       : http_text(&conn, text);
	from = now_ns() - from;
	http_close(&conn);
	if (status != 200)
		return refuse("put: status %d", status);
	printf("ok\t%lld\t%s\n", (long long)from, text);
	return 0;
}

/* The receiver's whole life: takes one connection to its end, answers with the digest. */
static int receive(int listener, const char *file)
{
	static char piece[PIECE];
	int fd = accept(listener, NULL, NULL);
	struct sink s;
	char hex[65];
	ssize_t n;

	if (fd < 0 || sink_open(&s, file) < 0)
		return 1;
	while ((n = recv(fd, piece, sizeof(piece), 0)) > 0) {
		if (sink_write(&s, piece, (size_t)n) < 0)
			return 1;
	}
	sink_close(&s, hex);
	return n == 0 && send(fd, hex, 64, MSG_NOSIGNAL) == 64 ? 0 : 1;
}

static int listen_anywhere(struct sockaddr_in *at)
{
	socklen_t n = sizeof(*at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd >= 0 && bind(fd, (struct sockaddr *)at, n) == 0 && listen(fd, 1) == 0 &&
	    getsockname(fd, (struct sockaddr *)at, &n) == 0)
		return fd;
	return -1;
}

int verb_copy(int count, char **words)
{
	int64_t bytes = count == 3 ? strtoll(words[1], NULL, 10) : 0;
	struct sockaddr_in at;
	int listener = listen_anywhere(&at);
	char hex[65] = "";
	int64_t from;
	int status = -1;
	pid_t pid;
	int fd;

	if (bytes <= 0 || listener < 0)
		return refuse("copy: BYTES FILE");
	pid = fork();
	if (pid == 0)
		_exit(receive(listener, words[2]));
	close(listener);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	from = now_ns();
	if (pid > 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && pour(fd, bytes) == 0 &&
	    shutdown(fd, SHUT_WR) == 0 && recv(fd, hex, 64, MSG_WAITALL) == 64)
		status = 0;
	from = now_ns() - from;
	close(fd);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (status < 0)
		return refuse("copy: %s", strerror(errno));
	printf("ok\t%lld\t%s\n", (long long)from, hex);
	return 0;
}
