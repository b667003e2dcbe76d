/* SPDX-License-Identifier: Apache-2.0
 *
 * child.c - what a new process does before it becomes the guest's program.
 *
 * It shares the agent's memory while the agent waits: system calls only, on a stack of its own, nothing allocated,
 * nothing written but the result in struct child.
 */
#include "agent/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/rights.h"
#include "base/wall.h"

#define STACK_SIZE 32768

/* Above the agent's own: when memory runs out, the workload goes, not the unit. */
#define OOM_SCORE_ADJ "300"

#ifndef __x86_64__
#error "child_clone() is written for x86-64"
#endif

/* Instrumentation would take the small stack for a broken one. */
#define ON_CHILD_STACK __attribute__((no_sanitize("address")))

ON_CHILD_STACK __attribute__((noreturn)) static void stop(struct child *c, enum child_step step, int error)
{
	c->step = step;
	c->error = error;
	/* What a shell answers: 127 not found, 126 found and not run. */
	_exit(error == ENOENT || error == ENOTDIR ? 127 : 126);
}

ON_CHILD_STACK static void must(struct child *c, long rc)
{
	if (rc < 0)
		stop(c, CHILD_SETUP, errno);
}

ON_CHILD_STACK static void raise_oom_score(struct child *c)
{
	int fd = openat(agent.proc, "self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	must(c, fd);
	must(c, write(fd, OOM_SCORE_ADJ, sizeof(OOM_SCORE_ADJ) - 1));
}

/* Plain system calls: the library's versions would tell the threads of a process that is not this one. */
ON_CHILD_STACK static void become_user(struct child *c)
{
	must(c, syscall(SYS_setgroups, c->n_groups, c->groups));
	must(c, syscall(SYS_setresgid, c->gid, c->gid, c->gid));
	must(c, syscall(SYS_setresuid, c->uid, c->uid, c->uid));
}

/* The search of a shell: a candidate that may not be run is passed over, and remembered. */
ON_CHILD_STACK static int try_paths(const struct child *c)
{
	int result = ENOENT;

	for (char *const *path = c->paths; *path; path++) {
		execve(*path, c->argv, c->env);
		if (errno == EACCES)
			result = EACCES;
		else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
			return errno;
	}
	return result;
}

ON_CHILD_STACK __attribute__((used, noreturn)) static void child_run(struct child *c)
{
	sigset_t none;

	must(c, setsid());
	if (WALL("oom.guest-first"))
		raise_oom_score(c);
	must(c, setrlimit(RLIMIT_NOFILE, &agent.nofile));
	for (int fd = 0; fd < 3; fd++)
		must(c, dup2(c->stdio[fd], fd));
	if (c->terminal)
		must(c, ioctl(0, TIOCSCTTY, 0));
	if (WALL("fds.child"))
		must(c, syscall(SYS_close_range, 3, ~0U, 0));
	umask(022);
	/* Before the uid: loading it takes rights. */
	if (WALL("seccomp.guest"))
		must(c, syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &guest_filter));
	become_user(c);
	if (chdir(c->cwd) < 0)
		stop(c, CHILD_CWD, errno);
	sigemptyset(&none);
	must(c, sigprocmask(SIG_SETMASK, &none, NULL));
	stop(c, CHILD_EXEC, try_paths(c));
}

/* The child starts on the new stack with nothing to return to; c travels in a register the kernel keeps. */
static long clone_onto(struct clone_args *args, struct child *c)
{
	register struct child *arg __asm__("r12") = c;
	long rc;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r12, %%rdi\n\t"
			 "call child_run\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(rc)
			 : "a"(SYS_clone3), "D"(args), "S"(sizeof(*args)), "r"(arg)
			 : "rcx", "r11", "cc", "memory");
	return rc;
}

pid_t child_clone(struct child *c, int cgroup)
{
	static char *stack;
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.stack_size = STACK_SIZE,
		.cgroup = (uint64_t)cgroup,
	};

	/* One is enough: the agent waits while a child is on it. */
	if (!stack) {
		stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		if (stack == MAP_FAILED) {
			stack = NULL;
			return -ENOMEM;
		}
	}
	args.stack = (uint64_t)(uintptr_t)stack;
	return (pid_t)clone_onto(&args, c);
}
