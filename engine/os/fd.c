/* SPDX-License-Identifier: Apache-2.0
 *
 * fd.c - descriptors.
 */
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/wall.h"

int inis_packet_pair(int pair[2], struct inis_error *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return inis_fail_errno(err, "socket pair");
	return 0;
}

int inis_packet_send(int sock, const void *data, size_t n, const int *fds, size_t n_fds, struct inis_error *err)
{
	union {
		char bytes[CMSG_SPACE(INIS_PASS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec iov = {.iov_base = (void *)data, .iov_len = n};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t sent;

	if (n_fds > INIS_PASS_MAX)
		return inis_fail(err, INIS_INTERNAL, "too many descriptors in one packet");
	if (n_fds > 0) {
		struct cmsghdr *cmsg;

		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, n_fds * sizeof(int));
	}
	do
		sent = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return inis_fail_errno(err, "send packet");
	return 0;
}

/* Collects the descriptors of a packet; those that do not fit are closed and counted all the same. */
static size_t take_descriptors(struct msghdr *msg, int *fds, size_t max)
{
	size_t count = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (count < max)
				fds[count] = fd;
			else
				close(fd);
			count++;
		}
	}
	return count;
}

ssize_t inis_packet_recv(int sock, void *data, size_t n, int *fds, size_t max, size_t *n_fds, struct inis_error *err)
{
	union {
		char bytes[CMSG_SPACE(INIS_PASS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {.iov_base = data, .iov_len = n};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	size_t count;
	ssize_t got;

	*n_fds = 0;
	do
		got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return inis_fail_errno(err, "receive packet");
	count = take_descriptors(&msg, fds, max);
	if (count > max || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		for (size_t i = 0; i < count && i < max; i++)
			close_fd(&fds[i]);
		return inis_fail(err, INIS_INTERNAL, "packet too long or with too many descriptors");
	}
	*n_fds = count;
	return got;
}

ssize_t inis_packet_await(int sock, void *data, size_t n, int *fds, size_t max, size_t *n_fds, struct inis_error *err)
{
	struct pollfd readable = {.fd = sock, .events = POLLIN};

	while (poll(&readable, 1, -1) < 0 && errno == EINTR)
		;
	return inis_packet_recv(sock, data, n, fds, max, n_fds, err);
}

int inis_sealed_memfd(const char *name, const void *data, size_t n, struct inis_error *err)
{
	cleanup_close int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return inis_fail_errno(err, "memory file %s", name);
	if (inis_write_all(fd, data, n, err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
		return inis_fail_errno(err, "seal memory file %s", name);
	return take_fd(&fd);
}

int inis_read_all(int fd, struct inis_buf *out, struct inis_error *err)
{
	for (;;) {
		uint8_t *at = inis_buf_reserve(out, 4096);
		ssize_t n;

		if (!at)
			return inis_fail(err, INIS_UNAVAILABLE, "too much to read");
		n = read(fd, at, 4096);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return inis_fail_errno(err, "read");
		if (n == 0)
			return 0;
		out->len += (size_t)n;
	}
}

int inis_write_all(int fd, const void *data, size_t n, struct inis_error *err)
{
	const char *at = data;

	while (n > 0) {
		ssize_t written = write(fd, at, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return inis_fail_errno(err, "write");
		at += written;
		n -= (size_t)written;
	}
	return 0;
}

int inis_fds_place(int first, const int *fds, size_t n, struct inis_error *err)
{
	int high[INIS_PASS_MAX];
	int clear = first + (int)n;

	if (n > INIS_PASS_MAX)
		return inis_fail(err, INIS_INTERNAL, "too many descriptors to place");
	/* First out of the way, so that no target is still in use as a source. */
	for (size_t i = 0; i < n; i++) {
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, clear);
		if (high[i] < 0)
			return inis_fail_errno(err, "duplicate descriptor");
	}
	for (size_t i = 0; i < n; i++) {
		if (dup2(high[i], first + (int)i) < 0)
			return inis_fail_errno(err, "place descriptor");
	}
	if (WALL("fds.host") && close_range((unsigned)clear, ~0U, 0) < 0)
		return inis_fail_errno(err, "close descriptors");
	return 0;
}
