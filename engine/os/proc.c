/* SPDX-License-Identifier: Apache-2.0
 *
 * proc.c - processes.
 */
#include "os/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/path.h"

pid_t inis_clone3(uint64_t flags, int cgroup, int *pidfd, struct inis_error *err)
{
	struct clone_args args = {.flags = flags | CLONE_PIDFD, .pidfd = (uintptr_t)pidfd};
	pid_t pid;

	/* A sibling has the signal that its parent was promised for the caller. */
	if (!(flags & CLONE_PARENT))
		args.exit_signal = SIGCHLD;
	if (cgroup >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)cgroup;
	}
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		inis_fail_errno(err, "clone3");
	return pid;
}

int inis_pidfd_open(pid_t pid, struct inis_error *err)
{
	int fd = pidfd_open(pid, 0);

	if (fd < 0)
		inis_fail_errno(err, "open process %d", (int)pid);
	return fd;
}

int inis_pidfd_signal(int pidfd, int signal)
{
	return pidfd_send_signal(pidfd, signal, NULL, 0);
}

bool inis_pidfd_reap(int pidfd, int *status)
{
	siginfo_t info = {0};
	struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};

	if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) == 0) {
		if (info.si_pid != 0 && status)
			*status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
		return info.si_pid != 0;
	}
	/* Not our child (adopted), or reaped before: the descriptor still tells. */
	return poll(&poll_fd, 1, 0) > 0;
}

/* What follows the command name, which may itself hold spaces and parentheses. */
static const char *stat_fields(pid_t pid, char *buf, size_t size)
{
	char path[32];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (inis_read_at(AT_FDCWD, path, buf, size, NULL) < 0)
		return NULL;
	end = strrchr(buf, ')');
	return end && end[1] == ' ' ? end + 2 : NULL;
}

uint64_t inis_start_time(pid_t pid)
{
	char buf[1024];
	const char *at = stat_fields(pid, buf, sizeof(buf));

	/* `at` is field 3. */
	for (int field = 3; at && field < 22; field++) {
		at = strchr(at, ' ');
		if (at)
			at++;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

char inis_proc_state(pid_t pid)
{
	char buf[1024];
	const char *at = stat_fields(pid, buf, sizeof(buf));

	return at ? *at : '\0';
}

int inis_boot_id(char out[static INIS_BOOT_ID_SIZE], struct inis_error *err)
{
	char buf[64];
	ssize_t n = inis_read_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", buf, sizeof(buf), err);

	if (n < 0)
		return -1;
	if (n < INIS_BOOT_ID_SIZE - 1)
		return inis_fail(err, INIS_INTERNAL, "boot id of %zd characters", n);
	memcpy(out, buf, INIS_BOOT_ID_SIZE - 1);
	out[INIS_BOOT_ID_SIZE - 1] = '\0';
	return 0;
}

static int spawn(const char *const argv[], int stderr_fd, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc != 0)
		return rc;
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, stderr_fd, STDERR_FILENO);
	rc = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

int inis_run(const char *const argv[], struct inis_error *err)
{
	cleanup_close int out = -1;
	cleanup_close int in = -1;
	char text[200];
	int pipe_fds[2];
	pid_t pid = -1;
	int status;
	ssize_t n;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return inis_fail_errno(err, "pipe");
	in = pipe_fds[0];
	out = pipe_fds[1];
	errno = spawn(argv, out, &pid);
	if (errno != 0)
		return inis_fail_errno(err, "start %s", argv[0]);
	close_fd(&out);
	n = read(in, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return inis_fail_errno(err, "wait for %s", argv[0]);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return inis_fail(err, INIS_INTERNAL, "%s failed: %s", argv[0], text);
	return 0;
}
