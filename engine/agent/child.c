/* SPDX-License-Identifier: Apache-2.0
 *
 * child.c - what a new process does before it becomes the guest's program.
 *
 * It shares the agent's memory, and the agent may go on meanwhile: system calls only, made here and not by the
 * library, which would write the agent's errno; a stack of its own; nothing allocated, nothing written but the result
 * in struct child.
 */
#include "agent/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/rights.h"
#include "base/wall.h"

#ifndef __x86_64__
#error "the system calls of a child are written for x86-64"
#endif

/* The result, a negative errno on failure. Some calls want arguments to be 0 that they do not use. */
ON_CHILD_STACK static long call(long nr, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	register uintptr_t fourth __asm__("r10") = d;
	register uintptr_t fifth __asm__("r8") = 0;

	__asm__ volatile("syscall"
			 : "+a"(nr)
			 : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
			 : "rcx", "r11", "memory");
	return nr;
}

#define CALL(name_, a_, b_, c_, d_) \
	call(SYS_##name_, (uintptr_t)(a_), (uintptr_t)(b_), (uintptr_t)(c_), (uintptr_t)(d_))

ON_CHILD_STACK __attribute__((noreturn)) static void stop(struct child *c, enum child_step step, int error)
{
	c->step = step;
	c->error = error;
	for (;;) {
		/* What a shell answers: 127 not found, 126 found and not run. */
		CALL(exit_group, error == ENOENT || error == ENOTDIR ? 127 : 126, 0, 0, 0);
	}
}

ON_CHILD_STACK static void must(struct child *c, long rc)
{
	if (rc < 0)
		stop(c, CHILD_SETUP, (int)-rc);
}

ON_CHILD_STACK static void take_streams(struct child *c)
{
	for (int fd = 0; fd < 3; fd++)
		must(c, CALL(dup2, c->stdio[fd], fd, 0, 0));
	if (c->terminal)
		must(c, CALL(ioctl, 0, TIOCSCTTY, 0, 0));
	if (WALL("fds.child"))
		must(c, CALL(close_range, 3, ~0U, 0, 0));
}

/* Before the uid is given up: loading one takes rights. */
ON_CHILD_STACK static void load_filters(struct child *c)
{
	if (c->unfiltered && WALL("seccomp.base"))
		must(c, CALL(seccomp, SECCOMP_SET_MODE_FILTER, 0, &base_filter, 0));
	if (WALL("seccomp.guest"))
		must(c, CALL(seccomp, SECCOMP_SET_MODE_FILTER, 0, &guest_filter, 0));
}

ON_CHILD_STACK void child_prepare(struct child *c)
{
	must(c, CALL(setsid, 0, 0, 0, 0));
	must(c, CALL(setrlimit, RLIMIT_NOFILE, &agent.nofile, 0, 0));
	take_streams(c);
	CALL(umask, 022, 0, 0, 0);
	/* A root directory that is put in place of this one takes the processes along that are in it. */
	must(c, CALL(chdir, "/", 0, 0, 0));
	load_filters(c);
}

ON_CHILD_STACK static void take_no_stdin(struct child *c)
{
	long fd = CALL(open, "/dev/null", O_RDONLY | O_CLOEXEC, 0, 0);

	must(c, fd);
	must(c, CALL(dup2, fd, 0, 0, 0));
}

ON_CHILD_STACK static void become_user(struct child *c)
{
	must(c, CALL(setgroups, c->n_groups, c->groups, 0, 0));
	must(c, CALL(setresgid, c->gid, c->gid, c->gid, 0));
	must(c, CALL(setresuid, c->uid, c->uid, c->uid, 0));
}

/* The search of a shell: a candidate that may not be run is passed over, and remembered. */
ON_CHILD_STACK static int try_paths(const struct child *c)
{
	int result = ENOENT;

	for (char *const *path = c->paths; *path; path++) {
		long rc = CALL(execve, *path, c->argv, c->env, 0);

		if (rc == -EACCES)
			result = EACCES;
		else if (rc != -ENOENT && rc != -ENOTDIR && rc != -ENAMETOOLONG)
			return (int)-rc;
	}
	return result;
}

/* Signals that came while it waited were not meant for the command; to ignore a signal drops the one that is pending. */
ON_CHILD_STACK static void drop_pending_signals(struct child *c)
{
	static const struct kernel_sigaction ignore = {.handler = 1}, fallback = {.handler = 0};
	uint64_t pending = 0;

	must(c, CALL(rt_sigpending, &pending, sizeof(pending), 0, 0));
	for (int s = 1; pending != 0; s++, pending >>= 1) {
		if (!(pending & 1) || s == SIGCONT)
			continue;
		CALL(rt_sigaction, s, &ignore, 0, sizeof(ignore.mask));
		CALL(rt_sigaction, s, &fallback, 0, sizeof(fallback.mask));
	}
}

ON_CHILD_STACK void child_become(struct child *c)
{
	const uint64_t none = 0;
	long rc;

	c->begun = true;
	if (c->no_stdin)
		take_no_stdin(c);
	if (c->no_new_privs)
		must(c, CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0));
	become_user(c);
	rc = CALL(chdir, c->cwd, 0, 0, 0);
	if (rc < 0)
		stop(c, CHILD_CWD, (int)-rc);
	drop_pending_signals(c);
	must(c, CALL(rt_sigprocmask, SIG_SETMASK, &none, 0, sizeof(none)));
	stop(c, CHILD_EXEC, try_paths(c));
}

ON_CHILD_STACK void child_await(const uint32_t *word)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0)
		CALL(futex, word, FUTEX_WAIT, 0, 0);
}
