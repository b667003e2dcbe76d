/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - a new process in a cgroup of its own becomes the guest's program.
 */
#include "agent/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/pipes.h"
#include "agent/user.h"
#include "base/cleanup.h"
#include "base/wall.h"

#define STACK_SIZE 32768

/* Above the agent's own: when memory runs out, the workload goes, not the unit. */
#define OOM_SCORE_ADJ "300"

/* Nothing hurries: whoever was just answered comes first, and so does a command that has just begun. */
#define READY_AFTER_END_MS   2
#define READY_AFTER_BEGIN_MS 50

/* A guest's root may stop the process between two of its calls; counted in slices, so that a pause is only one. */
#define WAIT_SLICE_MS 100
#define WAIT_SLICES   100

/* Or kill it, one after another. */
#define KILLED_MAX 16

struct launcher {
	struct child child;
	uint32_t go;
	/* Its pid, until it has left the agent's memory, by becoming the program or by ending: cleared by the kernel. */
	uint32_t inside;
	pid_t pid; /* 0: there is none */
	uid_t owner; /* of the pipes */
	struct leaf leaf;
	struct pipes pipes;
	void *stack;
};

static struct launcher with_pipes = {.leaf = LEAF_INIT, .pipes = PIPES_NONE};
static struct launcher with_terminal = {.leaf = LEAF_INIT, .pipes = PIPES_NONE};

ON_CHILD_STACK __attribute__((noreturn)) static void run(struct launcher *l)
{
	child_prepare(&l->child);
	child_await(&l->go);
	child_become(&l->child);
}

/* The child starts on the new stack with nothing to return to; what it is to run travels in registers. */
static long clone_onto(struct clone_args *args, void (*run_)(struct launcher *), struct launcher *l)
{
	register struct launcher *arg __asm__("r12") = l;
	register void (*entry)(struct launcher *) __asm__("r13") = run_;
	long rc;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r12, %%rdi\n\t"
			 "call *%%r13\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(rc)
			 : "a"(SYS_clone3), "D"(args), "S"(sizeof(*args)), "r"(arg), "r"(entry)
			 : "rcx", "r11", "cc", "memory");
	return rc;
}

static int clone_child(struct launcher *l, struct inis_error *err)
{
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_INTO_CGROUP | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
		.exit_signal = SIGCHLD,
		.parent_tid = (uint64_t)(uintptr_t)&l->inside,
		.child_tid = (uint64_t)(uintptr_t)&l->inside,
		.stack_size = STACK_SIZE,
		.cgroup = (uint64_t)l->leaf.fd,
	};
	long rc;

	if (!l->stack) {
		void *stack =
			mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

		if (stack == MAP_FAILED)
			return inis_fail_errno(err, "memory for a process");
		l->stack = stack;
	}
	args.stack = (uint64_t)(uintptr_t)l->stack;
	l->go = 0;
	l->child.step = 0;
	l->child.begun = false;
	l->child.unfiltered = !agent.filtered;
	rc = clone_onto(&args, run, l);
	if (rc < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "cannot start a process: %s", strerror((int)-rc));
	l->pid = (pid_t)rc;
	return 0;
}

/* A process that waits for its command, in a new leaf. */
static int begin(struct launcher *l, struct inis_error *err)
{
	if (leaf_make(&l->leaf, err) < 0)
		return -1;
	if (clone_child(l, err) == 0)
		return 0;
	leaf_release(&l->leaf);
	return -1;
}

static uint32_t inside(const struct launcher *l)
{
	return __atomic_load_n(&l->inside, __ATOMIC_ACQUIRE);
}

/* Not with FUTEX_PRIVATE_FLAG: the kernel wakes without it. */
static void await_departure(struct launcher *l, unsigned slices)
{
	const struct timespec slice = {.tv_nsec = WAIT_SLICE_MS * 1000000L};
	uint32_t pid;

	while ((pid = inside(l)) != 0 && slices > 0) {
		if (syscall(SYS_futex, &l->inside, FUTEX_WAIT, pid, &slice, NULL, 0) < 0 && errno == ETIMEDOUT)
			slices--;
	}
}

static void discard(struct launcher *l)
{
	if (inside(l) != 0) {
		kill(l->pid, SIGKILL);
		await_departure(l, UINT_MAX);
	}
	l->pid = 0;
	pipes_close(&l->pipes);
	leaf_release(&l->leaf);
}

static bool write_oom_score(pid_t pid)
{
	char path[48];
	cleanup_close int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, OOM_SCORE_ADJ, sizeof(OOM_SCORE_ADJ) - 1) > 0;
}

/*
 * Not by the child: the kernel gives all processes of one memory the same score. The file is the guest user's, or root's
 * when the program is set-uid; it is gone when the program has ended.
 */
static void raise_oom_score(pid_t pid)
{
	bool written;

	guest_rights_enter();
	written = write_oom_score(pid);
	guest_rights_leave();
	if (!written)
		write_oom_score(pid);
}

/* Lets it go; it has become the program, or has said why not. 1: it was killed while it waited, and is no more. */
static int finish(struct launcher *l, struct inis_error *err)
{
	bool gone;

	/* The guest's root may have stopped it while it waited. */
	kill(l->pid, SIGCONT);
	__atomic_store_n(&l->go, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &l->go, FUTEX_WAKE, 1, NULL, NULL, 0);
	await_departure(l, WAIT_SLICES);
	gone = inside(l) == 0;
	if (gone && l->child.begun) {
		if (WALL("oom.guest-first"))
			raise_oom_score(l->pid);
		return 0;
	}
	discard(l);
	inis_fail(err, INIS_UNAVAILABLE, "cannot start a process: it was %s before it began",
		  gone ? "killed" : "stopped");
	return gone ? 1 : -1;
}

static void hand_over(struct launcher *l, struct spawned *s)
{
	s->pid = l->pid;
	s->leaf = l->leaf;
	l->pid = 0;
	l->leaf = (struct leaf)LEAF_INIT;
	if (!l->child.no_stdin)
		s->in = take_fd(&l->pipes.in[1]);
	s->out = take_fd(&l->pipes.out[0]);
	s->err = take_fd(&l->pipes.err[0]);
	pipes_close(&l->pipes);
}

/* Takes the pipes over. */
static int make(struct launcher *l, struct inis_error *err)
{
	l->child.stdio[0] = l->pipes.in[0];
	l->child.stdio[1] = l->pipes.out[1];
	l->child.stdio[2] = l->pipes.err[1];
	if (begin(l, err) == 0)
		return 0;
	pipes_close(&l->pipes);
	return -1;
}

/* The pipes belong to the guest user: a program may open /dev/stdout anew. */
static int make_ready(struct launcher *l, const struct guest_user *user, struct inis_error *err)
{
	int rc;

	/* Killed by the guest's root, or for a guest user who is another one by now. */
	if (l->pid != 0 && (inside(l) == 0 || l->owner != user->uid))
		discard(l);
	if (l->pid != 0)
		return 0;
	l->owner = user->uid;
	guest_rights_enter();
	rc = pipes_make(&l->pipes, err);
	guest_rights_leave();
	return rc < 0 ? -1 : make(l, err);
}

int launch_prepare(struct inis_error *err)
{
	return pipes_make(&with_pipes.pipes, err) < 0 ? -1 : make(&with_pipes, err);
}

int launch_welcome(struct inis_error *err)
{
	const struct guest_user *user = guest_user();

	if (pipes_give(&with_pipes.pipes, user->uid, user->gid, err) < 0)
		return -1;
	with_pipes.owner = user->uid;
	return 0;
}

static void on_time(struct inis_timer *t)
{
	(void)t;
	cgroup_sweep();
	/* If it fails now it is tried again when it is needed, and told then. */
	make_ready(&with_pipes, guest_user(), NULL);
}

static struct inis_timer timer = {.fire = on_time};
static inis_ms timer_in;

/* Never later than it was to be: commands in a close row must not put it off for ever. */
static void make_ready_in(inis_ms ms)
{
	if (timer.armed && timer_in <= ms)
		return;
	timer_in = ms;
	inis_timer_start(&agent.events, &timer, ms);
}

void launch_make_ready(void)
{
	make_ready_in(READY_AFTER_END_MS);
}

static void set_command(struct child *c, const struct command *cmd, const struct guest_user *user, bool no_stdin)
{
	c->no_stdin = no_stdin;
	c->no_new_privs = agent.no_new_privs;
	c->argv = cmd->argv.v;
	c->env = cmd->env.v;
	c->paths = cmd->paths.v;
	c->cwd = cmd->cwd;
	c->uid = user->uid;
	c->gid = user->gid;
	c->n_groups = user->n_groups;
	c->groups = user->groups;
}

const struct child *launch(const struct command *cmd, const struct guest_user *user, bool with_stdin, struct spawned *s,
			   struct inis_error *err)
{
	struct launcher *l = &with_pipes;
	int tries = 0;
	int rc;

	do {
		if (make_ready(l, user, err) < 0)
			return NULL;
		set_command(&l->child, cmd, user, !with_stdin);
		rc = finish(l, err);
	} while (rc > 0 && ++tries < KILLED_MAX);
	if (rc != 0)
		return NULL;
	hand_over(l, s);
	make_ready_in(READY_AFTER_BEGIN_MS);
	return &l->child;
}

const struct child *launch_on_terminal(const struct command *cmd, const struct guest_user *user, int terminal,
				       struct spawned *s, struct inis_error *err)
{
	struct launcher *l = &with_terminal;

	for (int fd = 0; fd < 3; fd++)
		l->child.stdio[fd] = terminal;
	l->child.terminal = true;
	if (begin(l, err) < 0)
		return NULL;
	set_command(&l->child, cmd, user, false);
	if (finish(l, err) != 0)
		return NULL;
	hand_over(l, s);
	return &l->child;
}
