/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.c - children that try a step and report by a pipe.
 */
#include "doctor/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "driver/container/ranges.h"
#include "os/path.h"
#include "os/proc.h"

#define PATIENCE_S 30

struct outcome {
	int rc;
	struct inis_error err;
};

static _Noreturn void report(int pipe_end, doctor_probe fn, void *ctx)
{
	struct outcome o = {.err = INIS_ERROR_INIT};

	o.rc = fn(ctx, &o.err);
	_exit(write(pipe_end, &o, sizeof(o)) == sizeof(o) ? 0 : 1);
}

/* Reads the outcome and reaps the child. */
static int outcome_of(int pipe_end, pid_t pid, struct inis_error *err)
{
	struct outcome o;
	ssize_t n;
	int status = 0;

	do
		n = read(pipe_end, &o, sizeof(o));
	while (n < 0 && errno == EINTR);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n != sizeof(o))
		return inis_fail(err, INIS_INTERNAL, "the check ended without a result (signal %d)",
				 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return o.rc == 0 ? 0 : inis_fail_copy(err, &o.err);
}

int doctor_apart(doctor_probe fn, void *ctx, struct inis_error *err)
{
	cleanup_close int ours = -1;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return inis_fail_errno(err, "pipe");
	ours = fds[0];
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		sigset_t none;

		if (null >= 0)
			dup2(null, STDERR_FILENO);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		alarm(PATIENCE_S);
		report(fds[1], fn, ctx);
	}
	close(fds[1]);
	return pid < 0 ? inis_fail_errno(err, "fork") : outcome_of(ours, pid, err);
}

static int map_ids(pid_t pid, uint32_t uid_base, struct inis_error *err)
{
	char path[32];
	char map[48];
	cleanup_close int proc = -1;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return inis_fail_errno(err, "open %s", path);
	snprintf(map, sizeof(map), "0 %u %u", uid_base, INIS_RANGE_SIZE);
	if (inis_write_at(proc, "uid_map", map, err) < 0)
		return -1;
	return inis_write_at(proc, "gid_map", map, err);
}

/* Not by the C library, which would want to tell threads that this process does not have. */
static int become_root(void)
{
	if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, 0, 0, 0) < 0 ||
	    syscall(SYS_setresuid, 0, 0, 0) < 0)
		return -1;
	return 0;
}

struct guest {
	doctor_probe fn;
	void *ctx;
	int go;
};

static int be_guest(void *ctx, struct inis_error *err)
{
	struct guest *g = ctx;
	char byte;

	if (read(g->go, &byte, 1) != 1)
		return inis_fail(err, INIS_INTERNAL, "nobody mapped the ids of this namespace");
	if (become_root() < 0)
		return inis_fail_errno(err, "become root of a user namespace");
	return g->fn(g->ctx, err);
}

int doctor_in_namespaces(uint64_t flags, uint32_t uid_base, doctor_probe fn, void *ctx, struct inis_error *err)
{
	cleanup_close int result = -1;
	cleanup_close int go = -1;
	cleanup_close int pidfd = -1;
	struct guest guest = {.fn = fn, .ctx = ctx};
	int results[2];
	int starts[2];
	pid_t pid;
	int mapped;

	if (pipe2(results, O_CLOEXEC) < 0)
		return inis_fail_errno(err, "pipe");
	result = results[0];
	if (pipe2(starts, O_CLOEXEC) < 0) {
		close(results[1]);
		return inis_fail_errno(err, "pipe");
	}
	go = starts[1];
	guest.go = starts[0];
	pid = inis_clone3(flags, -1, &pidfd, err);
	if (pid == 0) {
		close(starts[1]);
		report(results[1], be_guest, &guest);
	}
	close(results[1]);
	close(starts[0]);
	if (pid < 0)
		return -1;
	mapped = map_ids(pid, uid_base, err);
	if (mapped == 0 && write(go, "", 1) == 1)
		return outcome_of(result, pid, err);
	close_fd(&go);
	outcome_of(result, pid, mapped < 0 ? NULL : err);
	return -1;
}

int doctor_userns(uint32_t uid_base, struct inis_error *err)
{
	cleanup_close int pidfd = -1;
	cleanup_close int ns = -1;
	char path[32];
	pid_t pid = inis_clone3(CLONE_NEWUSER, -1, &pidfd, err);

	if (pid == 0) {
		while (true)
			pause();
	}
	if (pid < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	if (map_ids(pid, uid_base, err) == 0 && (ns = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		inis_fail_errno(err, "open %s", path);
	inis_pidfd_signal(pidfd, SIGKILL);
	waitpid(pid, NULL, 0);
	return take_fd(&ns);
}

int doctor_own_mounts(struct inis_error *err)
{
	if (unshare(CLONE_NEWNS) < 0)
		return inis_fail_errno(err, "a mount namespace of its own");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return inis_fail_errno(err, "make mounts private");
	if (mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
		return inis_fail_errno(err, "mount /run");
	return 0;
}
