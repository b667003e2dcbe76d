/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.c - runs inside a session and tries what a hostile guest would; the tests read what it prints.
 *
 *   calls                  each system call of probe_calls.c: "NAME ok", "NAME EPERM", "NAME signal 31"
 *   read|write FILE…       "FILE hidden" (/dev/null or an empty directory lies over it), "FILE ok", "FILE EACCES"
 *   reach PORT ADDRESS…    TCP and UDP from here: "ADDRESS tcp ok", "ADDRESS udp ENETUNREACH"
 *   abstract NAME          connects: "closed" by the other end, "open" when nobody closed it, or an error
 *   devices                "/dev/null 1:3"
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define WAIT_MS 3000

static const char *result(int error)
{
	return error == 0 ? "ok" : strerrorname_np(error);
}

/* In a process of its own: a filter may kill it, and what it changed goes with it. */
static void try_call(const struct attempt *a)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(a->run());
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		printf("%s not tried: %s\n", a->name, strerrorname_np(errno));
	else if (WIFSIGNALED(status))
		printf("%s signal %d\n", a->name, WTERMSIG(status));
	else
		printf("%s %s\n", a->name, result(WEXITSTATUS(status)));
}

static bool covered(const char *path)
{
	struct stat st;
	struct dirent *e;
	int entries = 0;
	DIR *dir;

	if (stat(path, &st) < 0)
		return false;
	if (!S_ISDIR(st.st_mode))
		return S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		entries += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (dir)
		closedir(dir);
	return dir && entries == 0;
}

static int try_read(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return errno;
	return read(fd, &byte, 1) < 0 && errno != EISDIR && errno != EAGAIN ? errno : 0;
}

static int try_write(const char *path)
{
	return open(path, O_WRONLY | O_APPEND | O_NONBLOCK) < 0 ? errno : 0;
}

static void files(int (*attempt)(const char *), char **paths)
{
	for (; *paths; paths++)
		printf("%s %s\n", *paths, covered(*paths) ? "hidden" : result(attempt(*paths)));
}

static int connect_soon(int sock, const struct sockaddr *addr, socklen_t n)
{
	struct pollfd writable = {.fd = sock, .events = POLLOUT};
	socklen_t size = sizeof(int);
	int error = 0;

	if (connect(sock, addr, n) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return errno;
	if (poll(&writable, 1, WAIT_MS) <= 0)
		return ETIMEDOUT;
	return getsockopt(sock, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? errno : error;
}

/* Sends a datagram and waits for its echo: nothing else tells that it came anywhere. */
static int echo(int sock)
{
	struct pollfd readable = {.fd = sock, .events = POLLIN};
	char byte = 'x';

	if (send(sock, &byte, 1, 0) < 0)
		return errno;
	if (poll(&readable, 1, WAIT_MS) <= 0)
		return ETIMEDOUT;
	return recv(sock, &byte, 1, 0) < 0 ? errno : 0;
}

static int reach_one(const char *text, uint16_t port, int type)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = 1};
	bool is_v6 = inet_pton(AF_INET6, text, &v6.sin6_addr) == 1;
	int sock = socket(is_v6 ? AF_INET6 : AF_INET, type | SOCK_NONBLOCK, 0);
	int error;

	if (sock < 0)
		return errno;
	if (!is_v6 && inet_aton(text, &v4.sin_addr) == 0)
		return EINVAL;
	error = is_v6 ? connect_soon(sock, (struct sockaddr *)&v6, sizeof(v6))
		      : connect_soon(sock, (struct sockaddr *)&v4, sizeof(v4));
	return error == 0 && type == SOCK_DGRAM ? echo(sock) : error;
}

static void reach(uint16_t port, char **addresses)
{
	for (; *addresses; addresses++) {
		printf("%s tcp %s\n", *addresses, result(reach_one(*addresses, port, SOCK_STREAM)));
		printf("%s udp %s\n", *addresses, result(reach_one(*addresses, port, SOCK_DGRAM)));
	}
}

static void abstract(const char *name)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct pollfd readable = {.events = POLLIN};
	size_t n = strlen(name);
	int sock = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte;

	memcpy(addr.sun_path + 1, name, n);
	if (connect(sock, (struct sockaddr *)&addr, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) < 0) {
		puts(strerrorname_np(errno));
		return;
	}
	readable.fd = sock;
	if (poll(&readable, 1, 10 * WAIT_MS) <= 0)
		puts("open");
	else
		puts(recv(sock, &byte, 1, 0) > 0 ? "answered" : "closed");
}

/* The device nodes below /dev, but for those of terminals. */
static void devices(void)
{
	DIR *dir = opendir("/dev");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct stat st;

		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
			printf("/dev/%s %u:%u\n", e->d_name, major(st.st_rdev), minor(st.st_rdev));
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "calls") == 0) {
		for (const struct attempt *a = CALLS; a->name; a++)
			try_call(a);
	} else if (strcmp(what, "read") == 0) {
		files(try_read, argv + 2);
	} else if (strcmp(what, "write") == 0) {
		files(try_write, argv + 2);
	} else if (strcmp(what, "reach") == 0 && argc > 2) {
		reach((uint16_t)atoi(argv[2]), argv + 3);
	} else if (strcmp(what, "abstract") == 0 && argc > 2) {
		abstract(argv[2]);
	} else if (strcmp(what, "devices") == 0) {
		devices();
	} else {
		fputs("what?\n", stderr);
		return 2;
	}
	return 0;
}
