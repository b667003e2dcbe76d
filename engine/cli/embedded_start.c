/* SPDX-License-Identifier: Apache-2.0
 *
 * embedded_start.c - starts the engine next to this program as a daemon of its own session.
 *
 * The engine gets nothing of the caller: no descriptor but its log, no signal
 * mask, no terminal, no working directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/embedded.h"

#define LOG_TAIL 2048

static int engine_path(char out[static PATH_MAX], struct inis_error *err)
{
	ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - sizeof("/inisd"));
	char *slash;

	if (length < 0)
		return inis_fail_errno(err, "cannot find this program's folder");
	out[length] = '\0';
	slash = strrchr(out, '/');
	memcpy(slash ? slash : out, "/inisd", sizeof("/inisd"));
	if (access(out, X_OK) < 0)
		return inis_fail_errno(err, "the engine %s cannot be started", out);
	return 0;
}

/* After fork: only async-signal-safe calls. */
__attribute__((noreturn)) static void become_engine(const char *path, const char *const argv[], int log)
{
	sigset_t none;
	int null = open("/dev/null", O_RDONLY);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setsid();
	if (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 || chdir("/") < 0)
		_exit(127);
	close_range(3, ~0U, 0);
	execve(path, (char *const *)(uintptr_t)argv, environ);
	_exit(127);
}

static int fail_with_log(const char *what, const char *log_path, off_t from, struct inis_error *err)
{
	char tail[LOG_TAIL + 1];
	cleanup_close int fd = open(log_path, O_RDONLY | O_CLOEXEC);
	off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t length = 0;

	if (end - from > LOG_TAIL)
		from = end - LOG_TAIL;
	if (fd >= 0)
		length = pread(fd, tail, LOG_TAIL, from);
	tail[length > 0 ? length : 0] = '\0';
	if (length > 0)
		fprintf(stderr, "%s%s", tail, tail[length - 1] == '\n' ? "" : "\n");
	return inis_fail(err, INIS_UNAVAILABLE, "%s; what it said is above and in %s", what, log_path);
}

static int await_engine(struct cli_target *target, const char *state_dir, int wait_ms, pid_t pid, const char *log_path,
			off_t log_from, struct inis_error *err)
{
	inis_ms deadline = inis_deadline_in(wait_ms);
	int status;

	while (!cli_embedded_alive(target, state_dir)) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return fail_with_log("the embedded engine ended at once", log_path, log_from, err);
		if (inis_now_ms() >= deadline) {
			kill(pid, SIGTERM);
			fail_with_log("the embedded engine did not become ready in time", log_path, log_from, err);
			err->sys_errno = ETIMEDOUT;
			return -1;
		}
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	return 0;
}

int cli_embedded_start(struct cli_target *target, const char *state_dir, const struct cli_embedded_start *how,
		       struct inis_error *err)
{
	char program[PATH_MAX];
	cleanup_free char *dir = realpath(state_dir, NULL);
	cleanup_free char *log_path = NULL;
	cleanup_free char *key_path = NULL;
	cleanup_close int log = -1;
	off_t log_from;
	pid_t pid;

	if (engine_path(program, err) < 0)
		return -1;
	if (!dir)
		return inis_fail_errno(err, "cannot use the state directory %s", state_dir);
	if (asprintf(&log_path, "%s/engine.log", dir) < 0 || asprintf(&key_path, "%s/key", dir) < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (log < 0)
		return inis_fail_errno(err, "cannot open %s", log_path);
	log_from = lseek(log, 0, SEEK_END);
	const char *const argv[] = {program,           "serve", "--embedded", "--listen", "127.0.0.1:0",
				    "--state-dir",     dir,     "--key-file", key_path,   "--exit-when-idle",
				    how->idle_seconds, NULL};

	pid = fork();
	if (pid < 0)
		return inis_fail_errno(err, "cannot start the embedded engine");
	if (pid == 0)
		become_engine(program, argv, log);
	return await_engine(target, dir, how->wait_ms, pid, log_path, log_from, err);
}
