/* SPDX-License-Identifier: Apache-2.0
 *
 * server.c - a real inisd for tests.
 */
#include "server.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "os/path.h"

#define PATIENCE 6000 /* times 10 ms */

void server_init(struct server *s)
{
	if (geteuid() != 0) {
		print_message("skipped: a server needs root\n");
		skip();
	}
	*s = (struct server){.pid = -1, .out = -1};
	strcpy(s->state_dir, "/tmp/inis-serve-test.XXXXXX");
	assert_non_null(mkdtemp(s->state_dir));
}

static pid_t spawn(const struct server *s, const char *const *more, int out, int err)
{
	const char *argv[32] = {"inisd", "serve", "--listen", "127.0.0.1:0", "--state-dir", s->state_dir};
	int n = 6;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	/* A test that fails leaves no server, which would hold the runner's pipes open. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	while (more && *more && n < 31)
		argv[n++] = *more++;
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	if (err >= 0)
		dup2(err, STDERR_FILENO);
	execv(SERVER_PROGRAM, (char *const *)(void *)argv);
	_exit(127);
}

static void read_line(int fd, char *line, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};

		assert_int_equal(poll(&ready, 1, PATIENCE * 10), 1);
		if (read(fd, line + n, 1) != 1 || line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
}

void server_start(struct server *s, const char *const *more)
{
	char line[256];
	const char *colon;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	s->pid = spawn(s, more, fds[1], -1);
	close(fds[1]);
	s->out = fds[0];
	read_line(s->out, line, sizeof(line));
	colon = strrchr(line, ':');
	if (strncmp(line, "inisd ", 6) != 0 || !strstr(line, " listening on http://127.0.0.1:") || !colon)
		fail_msg("the server said \"%s\"", line);
	s->port = atoi(colon + 1);
}

int server_fails(const struct server *s, const char *const *options, char *text, size_t size)
{
	int fds[2];
	size_t n = 0;
	ssize_t got;
	int status;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = spawn(s, options, -1, fds[1]);
	close(fds[1]);
	while ((got = read(fds[0], text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int server_stop(struct server *s, int signal)
{
	int status;

	if (signal)
		kill(s->pid, signal);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	s->pid = -1;
	close_fd(&s->out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void server_free(struct server *s)
{
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);

	if (s->pid > 0)
		server_stop(s, SIGTERM);
	/* A broker whose supervisor was killed may still be tidying up. */
	for (int i = 0; i < PATIENCE; i++) {
		if (inis_remove_tree_at(tmp, strrchr(s->state_dir, '/') + 1, NULL) == 0)
			return;
		usleep(10000);
	}
	fail_msg("%s cannot be removed", s->state_dir);
}

static bool is_child(const char *pid, pid_t parent, const char *name)
{
	char path[64];
	char stat[512];
	char *open;
	char *close;
	int ppid;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	if (inis_read_at(AT_FDCWD, path, stat, sizeof(stat), NULL) <= 0)
		return false;
	open = strchr(stat, '(');
	close = strrchr(stat, ')');
	if (!open || !close || sscanf(close, ") %*c %d", &ppid) != 1)
		return false;
	*close = '\0';
	return ppid == parent && strcmp(open + 1, name) == 0;
}

pid_t server_child(const struct server *s, const char *name, pid_t not )
{
	for (int i = 0; i < PATIENCE; i++) {
		cleanup_dir DIR *proc = opendir("/proc");
		struct dirent *e;

		while (proc && (e = readdir(proc))) {
			if (isdigit((unsigned char)e->d_name[0]) &&
			    atoi(e->d_name) != not &&is_child(e->d_name, s->pid, name))
				return atoi(e->d_name);
		}
		usleep(10000);
	}
	fail_msg("no %s was started", name);
	return -1;
}

static int connect_to(int port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {.tv_sec = 60};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	close(fd);
	return -1;
}

int server_request(const struct server *s, const char *method, const char *path, const char *body, char *text,
		   size_t size)
{
	cleanup_close int fd = connect_to(s->port);
	cleanup_close int dir = inis_open_dir(s->state_dir, NULL);
	char key[128] = "";
	char request[1024];
	size_t n = 0;
	ssize_t got;
	int status = 0;
	char *head_end;

	text[0] = '\0';
	inis_read_at(dir, "key", key, sizeof(key), NULL);
	key[strcspn(key, "\n")] = '\0';
	snprintf(request, sizeof(request),
		 "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
		 "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
		 method, path, key, strlen(body), body);
	if (fd < 0 || send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return 0;
	while ((got = recv(fd, text + n, size - 1 - n, 0)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	if (sscanf(text, "HTTP/1.1 %d", &status) != 1)
		return 0;
	head_end = strstr(text, "\r\n\r\n");
	if (head_end)
		memmove(text, head_end + 4, strlen(head_end + 4) + 1);
	return status;
}

void server_get_until_ok(const struct server *s, const char *path, char *text, size_t size)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (server_request(s, "GET", path, "", text, size) / 100 == 2)
			return;
		usleep(10000);
	}
	fail_msg("GET %s was never answered well: %s", path, text);
}
