/* SPDX-License-Identifier: Apache-2.0
 *
 * template_sandbox.c - children that run a build's scripts, confined or not.
 *
 * A confined child is cloned into its namespaces and waits for a packet: its parent maps the ids and sends mounts
 * that only it can make, the tree and the packages with mapped ids and the device nodes. The child puts them in place,
 * gives up what leads out and executes the script.
 *
 * Inside, fsync and its like do nothing: the tree is worth nothing until it is whole, and then it is synced once.
 */
#include "cli/template_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/fd.h"
#include "os/mount.h"
#include "os/path.h"
#include "os/proc.h"

/* The range below the one of the server's own unprivileged process; no session ever has it. */
#define FIRST_UID     536739840u
#define RANGE         65536u
#define NAMESPACES    ((uint64_t)CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)
#define CLEAR_SIGNALS 0x100000000ULL /* CLONE_CLEAR_SIGHAND */
#define TREE          "/mnt" /* of the child, while it still sees the machine */
#define DETACH        2 /* MNT_DETACH; <sys/mount.h> and <linux/mount.h> cannot be had together */
#define SHELL         "/bin/sh"
#define FAILED        125
#define PROCESSES_MAX 1024 /* of the whole range, at a time */
#define MEMORY_MAX    (4UL << 30) /* of one process; template_limits.h has what holds for all */

static const char *const NODES[] = {"null", "zero", "full", "random", "urandom"};
#define NODE_COUNT (sizeof(NODES) / sizeof(NODES[0]))

enum { GIVEN_TREE, GIVEN_DEBS, GIVEN_NODES, GIVEN_COUNT = GIVEN_NODES + NODE_COUNT };

struct child {
	pid_t pid;
	int pidfd;
};

/* ---- in the child ---- */

static _Noreturn void give_up(const char *step)
{
	dprintf(2, "%s: %s\n", step, strerror(errno));
	_exit(FAILED);
}

/* The kernel forgets it when the ids change. */
static void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* In a process group of its own, for the parent to kill as a whole. */
static void begin_child(const struct template_steps *s)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	die_with_parent();
	setsid();
	if (null < 0 || dup2(null, 0) < 0 || dup2(s->log, 1) < 0 || dup2(s->log, 2) < 0)
		_exit(FAILED);
}

static void close_others(void)
{
	syscall(SYS_close_range, 3, ~0U, 0);
}

static void skip_syncs(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fdatasync, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sync, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_syncfs, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sync_file_range, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		give_up("load a filter");
}

static void attach(int mount, const char *path)
{
	if (inis_mount_attach(mount, AT_FDCWD, path, NULL) < 0)
		give_up(path);
}

/* Some places of the machine are writable for everybody. */
static void seal_machine(void)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0 || syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    inis_mount_attrs(root, MOUNT_ATTR_RDONLY, 0, -1, true, NULL) < 0)
		give_up("make the machine read-only");
}

static void make_dev(const int *nodes)
{
	/* Not the default's sticky bit: the kernel lets nobody open others' files with O_CREAT there. */
	const struct inis_mount_option mode = INIS_OPT_TEXT("mode", "755");
	int dev = inis_mount_new("tmpfs", &mode, 1, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, NULL);

	if (dev < 0)
		give_up("make /dev");
	attach(dev, TREE "/dev");
	for (size_t i = 0; i < NODE_COUNT; i++) {
		int fd = openat(dev, NODES[i], O_WRONLY | O_CREAT | O_EXCL, 0600);

		if (fd < 0 || inis_mount_attach(nodes[i], dev, NODES[i], NULL) < 0)
			give_up("make /dev");
	}
	if (symlinkat("/proc/self/fd", dev, "fd") < 0)
		give_up("make /dev");
}

/* The tree becomes the root and the machine's is dropped. A procfs can only be made while another is visible. */
static void enter_tree(const int *given)
{
	int proc = inis_mount_new("proc", NULL, 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, NULL);

	if (proc < 0)
		give_up("make /proc");
	attach(proc, TREE "/proc");
	make_dev(given + GIVEN_NODES);
	if (chdir(TREE) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || syscall(SYS_umount2, ".", DETACH) < 0 ||
	    chdir("/") < 0)
		give_up("enter the tree");
	if (sethostname("template", strlen("template")) < 0)
		give_up("name the machine");
}

/* A script that runs wild fails; the machine does not. */
static void bound(void)
{
	const struct rlimit processes = {PROCESSES_MAX, PROCESSES_MAX};
	const struct rlimit memory = {MEMORY_MAX, MEMORY_MAX};
	const struct rlimit no_core = {0, 0};

	if (setrlimit(RLIMIT_NPROC, &processes) < 0 || setrlimit(RLIMIT_DATA, &memory) < 0 ||
	    setrlimit(RLIMIT_CORE, &no_core) < 0)
		give_up("bound a step");
}

static _Noreturn void confined(int sock, const char *script, bool inside)
{
	char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)script, NULL};
	char *const envp[] = {(char[]){"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
			      (char[]){"LC_ALL=C.UTF-8"}, NULL};
	int given[GIVEN_COUNT];
	size_t n = 0;
	char byte;

	if (inis_packet_recv(sock, &byte, 1, given, GIVEN_COUNT, &n, NULL) != 1 || n != GIVEN_COUNT)
		give_up("receive the mounts");
	if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, 0, 0, 0) < 0 ||
	    syscall(SYS_setresuid, 0, 0, 0) < 0)
		give_up("become root of the range");
	die_with_parent();
	seal_machine();
	attach(given[GIVEN_TREE], TREE);
	attach(given[GIVEN_DEBS], TREE "/debs");
	if (inside)
		enter_tree(given);
	else if (chdir(TREE) < 0)
		give_up("enter the tree");
	skip_syncs();
	bound();
	umask(022);
	close_others();
	execve(SHELL, argv, envp);
	give_up("run " SHELL);
}

/* ---- in the parent ---- */

static int map_ids(pid_t pid, struct inis_error *err)
{
	char path[32];
	char map[48];
	cleanup_close int proc = -1;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	snprintf(map, sizeof(map), "0 %u %u", FIRST_UID, RANGE);
	proc = inis_open_dir(path, err);
	if (proc < 0 || inis_write_at(proc, "uid_map", map, err) < 0)
		return -1;
	return inis_write_at(proc, "gid_map", map, err);
}

static int give(int given[static GIVEN_COUNT], pid_t pid, int tree, int debs, struct inis_error *err)
{
	cleanup_close int userns = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	userns = open(path, O_RDONLY | O_CLOEXEC);
	if (userns < 0)
		return inis_fail_errno(err, "open %s", path);
	given[GIVEN_TREE] = inis_mount_clone(tree, "", false, err);
	given[GIVEN_DEBS] = inis_mount_clone(debs, "", false, err);
	if (given[GIVEN_TREE] < 0 || given[GIVEN_DEBS] < 0 ||
	    inis_mount_attrs(given[GIVEN_TREE], MOUNT_ATTR_NODEV, 0, userns, false, err) < 0 ||
	    inis_mount_attrs(given[GIVEN_DEBS], MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY, 0, userns, false, err) < 0)
		return -1;
	for (size_t i = 0; i < NODE_COUNT; i++) {
		snprintf(path, sizeof(path), "/dev/%s", NODES[i]);
		given[GIVEN_NODES + i] = inis_mount_clone(AT_FDCWD, path, false, err);
		if (given[GIVEN_NODES + i] < 0)
			return -1;
	}
	return 0;
}

static int send_mounts(int sock, pid_t pid, int tree, int debs, struct inis_error *err)
{
	int given[GIVEN_COUNT];
	int rc;

	for (size_t i = 0; i < GIVEN_COUNT; i++)
		given[i] = -1;
	rc = give(given, pid, tree, debs, err);
	if (rc == 0)
		rc = inis_packet_send(sock, "", 1, given, GIVEN_COUNT, err);
	for (size_t i = 0; i < GIVEN_COUNT; i++)
		close_fd(&given[i]);
	return rc;
}

static int end_child(struct child *c)
{
	siginfo_t info = {0};

	while (waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED) < 0 && errno == EINTR)
		;
	close_fd(&c->pidfd);
	return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static void kill_child(const struct template_steps *s, const struct child *c)
{
	template_group_kill(s->group);
	/* The group is the child's, whose pid is ours to reap: it cannot be somebody else's. */
	kill(-c->pid, SIGKILL);
	inis_pidfd_signal(c->pidfd, SIGKILL);
}

static int await(const struct template_steps *s, struct child *c, struct inis_error *err)
{
	struct pollfd fds[2] = {{.fd = c->pidfd, .events = POLLIN}, {.fd = s->interrupts, .events = POLLIN}};
	int ready, status;

	do
		ready = poll(fds, 2, inis_deadline_poll(s->deadline));
	while (ready < 0 && errno == EINTR);
	if (ready == 0 || fds[1].revents)
		kill_child(s, c);
	status = end_child(c);
	if (ready == 0)
		return template_late(s->group, err);
	if (fds[1].revents)
		return inis_fail(err, INIS_CONFLICT, "interrupted");
	if (status == 0)
		return 0;
	return template_group_blames(s->group, err) ? -1 : inis_fail(err, INIS_INTERNAL, "it ended with %d", status);
}

int template_step_run(const struct template_steps *s, const char *script, const char *const *args,
		      struct inis_error *err)
{
	struct child c = {.pidfd = -1};
	const char *argv[64] = {"sh", "-c", script, "inis"};
	size_t n = 4;

	for (; *args && n < sizeof(argv) / sizeof(argv[0]) - 1; args++)
		argv[n++] = *args;
	c.pid = inis_clone3(CLEAR_SIGNALS, s->group->v2, &c.pidfd, err);
	if (c.pid < 0)
		return -1;
	if (c.pid == 0) {
		begin_child(s);
		if (template_group_join(s->group, getpid(), NULL) < 0)
			give_up("join the cgroup of the build");
		close_others();
		execv(SHELL, (char *const *)argv);
		give_up("run " SHELL);
	}
	return await(s, &c, err);
}

int template_step_confined(const struct template_steps *s, const char *script, int tree, int debs, bool inside,
			   struct inis_error *err)
{
	struct child c = {.pidfd = -1};
	cleanup_close int ours = -1;
	cleanup_close int theirs = -1;
	int pair[2];

	if (inis_packet_pair(pair, err) < 0)
		return -1;
	ours = pair[0];
	theirs = pair[1];
	fcntl(theirs, F_SETFL, 0);
	c.pid = inis_clone3(NAMESPACES | CLEAR_SIGNALS, s->group->v2, &c.pidfd, err);
	if (c.pid < 0)
		return -1;
	if (c.pid == 0) {
		begin_child(s);
		confined(theirs, script, inside);
	}
	if (template_group_join(s->group, c.pid, err) < 0 || map_ids(c.pid, err) < 0 ||
	    send_mounts(ours, c.pid, tree, debs, err) < 0) {
		kill_child(s, &c);
		end_child(&c);
		return -1;
	}
	return await(s, &c, err);
}
