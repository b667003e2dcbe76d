/* SPDX-License-Identifier: Apache-2.0
 *
 * fault_shim.c - preloaded into the broker: makes the call that the test has chosen fail with EIO.
 *
 * Only calls by which things are made, changed or sent; those that look or wait are left alone, and so are the
 * packets to the front, whose loss has its own test.
 */
#include "fault_shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/broker_proto.h"

static struct faults *page;

__attribute__((constructor)) static void map_page(void)
{
	const char *path = getenv(FAULT_ENV);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	page = at == MAP_FAILED ? NULL : at;
	if (fd >= 0)
		close(fd);
}

static bool fails(const char *name)
{
	if (!page || page->countdown <= 0 || --page->countdown != 0)
		return false;
	snprintf(page->name, sizeof(page->name), "%s", name);
	page->hit = 1;
	errno = EIO;
	return true;
}

/* The definition that would have been called without the shim. */
#define real(name_) ((__typeof__(&(name_)))dlsym(RTLD_NEXT, #name_))

long syscall(long number, ...)
{
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (fails("syscall"))
		return -1;
	return real(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return fails("openat") ? -1 : real(openat)(dir, path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	return fails("ioctl") ? -1 : real(ioctl)(fd, request, arg);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	return fails("mkdirat") ? -1 : real(mkdirat)(dir, path, mode);
}

int unlinkat(int dir, const char *path, int flags)
{
	return fails("unlinkat") ? -1 : real(unlinkat)(dir, path, flags);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return fails("renameat") ? -1 : real(renameat)(from_dir, from, to_dir, to);
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	return fails("fchown") ? -1 : real(fchown)(fd, uid, gid);
}

int fchownat(int dir, const char *path, uid_t uid, gid_t gid, int flags)
{
	return fails("fchownat") ? -1 : real(fchownat)(dir, path, uid, gid, flags);
}

int fchmod(int fd, mode_t mode)
{
	return fails("fchmod") ? -1 : real(fchmod)(fd, mode);
}

ssize_t write(int fd, const void *data, size_t n)
{
	/* Logs are nobody's business. */
	return fd > STDERR_FILENO && fails("write") ? -1 : real(write)(fd, data, n);
}

int ftruncate(int fd, off_t size)
{
	return fails("ftruncate") ? -1 : real(ftruncate)(fd, size);
}

int socketpair(int domain, int type, int protocol, int pair[2])
{
	return fails("socketpair") ? -1 : real(socketpair)(domain, type, protocol, pair);
}

int connect(int sock, const struct sockaddr *address, socklen_t size)
{
	return fails("connect") ? -1 : real(connect)(sock, address, size);
}

ssize_t send(int sock, const void *data, size_t n, int flags)
{
	return fails("send") ? -1 : real(send)(sock, data, n, flags);
}

ssize_t sendmsg(int sock, const struct msghdr *msg, int flags)
{
	bool to_front = msg->msg_iov->iov_len == sizeof(struct inis_broker_msg);

	return !to_front && fails("sendmsg") ? -1 : real(sendmsg)(sock, msg, flags);
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	return op == EPOLL_CTL_ADD && fails("epoll_ctl") ? -1 : real(epoll_ctl)(epoll, op, fd, event);
}
