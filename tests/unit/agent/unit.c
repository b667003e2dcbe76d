/* SPDX-License-Identifier: Apache-2.0
 *
 * unit.c - a unit for tests.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "os/fd.h"
#include "os/mount.h"
#include "os/net.h"
#include "os/path.h"
#include "os/proc.h"
#include "wire/agent_proto.h"
#include "wire/unit_proto.h"

#define NAMESPACES \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_NEWNET)

#define must(expr_)                                                                    \
	({                                                                             \
		long rc_ = (long)(expr_);                                              \
		if (rc_ < 0)                                                           \
			fail_msg("%s: %s (%s)", #expr_, strerror(errno), err.message); \
		rc_;                                                                   \
	})

bool unit_possible(void)
{
	return geteuid() == 0;
}

static void put(const char *path, const char *text)
{
	struct inis_error err = INIS_ERROR_INIT;
	cleanup_close int fd = (int)must(open(path, O_WRONLY | O_CLOEXEC | O_CREAT, 0644));

	must(write(fd, text, strlen(text)));
}

static void own(const char *path, unsigned id)
{
	struct inis_error err = INIS_ERROR_INIT;

	must(lchown(path, UNIT_UID_BASE + id, UNIT_UID_BASE + id));
}

static void make_dir(const struct unit *u, const char *name, mode_t mode, unsigned owner)
{
	struct inis_error err = INIS_ERROR_INIT;
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", u->dir, name);
	must(mkdir(path, mode));
	must(chmod(path, mode));
	own(path, owner);
}

static void make_link(const struct unit *u, const char *name, const char *target)
{
	struct inis_error err = INIS_ERROR_INIT;
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", u->dir, name);
	must(symlink(target, path));
	own(path, 0);
}

static void make_file(const struct unit *u, const char *name, const char *text, mode_t mode)
{
	struct inis_error err = INIS_ERROR_INIT;
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", u->dir, name);
	put(path, text);
	must(chmod(path, mode));
	own(path, 0);
}

static void make_node(const struct unit *u, const char *name, unsigned minor)
{
	struct inis_error err = INIS_ERROR_INIT;
	char path[160];

	snprintf(path, sizeof(path), "%s/dev/%s", u->dir, name);
	must(mknod(path, S_IFCHR | 0666, makedev(strcmp(name, "tty") == 0 ? 5 : 1, minor)));
	must(chmod(path, 0666));
}

static void make_root(struct unit *u)
{
	static const char *const dirs[] = {"root",     "root/usr",  "root/etc", "root/proc", "root/dev", "root/run",
					   "root/var", "root/home", "dev",      "dev/pts",   "dev/shm",  "dev/mqueue"};
	struct inis_error err = INIS_ERROR_INIT;

	snprintf(u->dir, sizeof(u->dir), "/tmp/inis-test-unit-XXXXXX");
	must(mkdtemp(u->dir) ? 0 : -1);
	must(chmod(u->dir, 0755));
	for (unsigned i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		make_dir(u, dirs[i], 0755, 0);
	make_dir(u, "root/tmp", 01777, 0);
	make_dir(u, "spool", 0700, 0);
	make_dir(u, "root/workspace", 0755, 999);
	make_dir(u, "root/home/sandbox", 0755, 999);
	make_link(u, "root/bin", "usr/bin");
	make_link(u, "root/sbin", "usr/sbin");
	make_link(u, "root/lib", "usr/lib");
	make_link(u, "root/lib64", "usr/lib64");
	make_link(u, "dev/ptmx", "pts/ptmx");
	make_link(u, "dev/fd", "/proc/self/fd");
	make_link(u, "dev/stdin", "/proc/self/fd/0");
	make_link(u, "dev/stdout", "/proc/self/fd/1");
	make_link(u, "dev/stderr", "/proc/self/fd/2");
	make_node(u, "null", 3);
	make_node(u, "zero", 5);
	make_node(u, "full", 7);
	make_node(u, "random", 8);
	make_node(u, "urandom", 9);
	make_node(u, "tty", 0);
	make_file(u, "root/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nsandbox:x:999:999::/home/sandbox:/bin/bash\n",
		  0644);
	make_file(u, "root/etc/group", "root:x:0:\nsandbox:x:999:\nextra:x:1500:sandbox\n", 0644);
}

static const char *v2_root(void)
{
	return access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified";
}

static void own_file(const char *dir, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	own(path, 0);
}

static void put_in(const char *dir, const char *name, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	put(path, text);
}

static void make_cgroups(struct unit *u)
{
	struct inis_error err = INIS_ERROR_INIT;
	char limit[32];

	snprintf(limit, sizeof(limit), "%u", UNIT_MEM_MB << 20);
	snprintf(u->cgroup, sizeof(u->cgroup), "%s/inis-test-%.16s", v2_root(), strrchr(u->dir, '-') + 1);
	must(mkdir(u->cgroup, 0755));
	own(u->cgroup, 0);
	own_file(u->cgroup, "cgroup.procs");
	own_file(u->cgroup, "cgroup.subtree_control");
	if (access("/sys/fs/cgroup/memory/memory.limit_in_bytes", F_OK) < 0)
		return;
	snprintf(u->memory, sizeof(u->memory), "/sys/fs/cgroup/memory/inis-test-%.16s", strrchr(u->dir, '-') + 1);
	must(mkdir(u->memory, 0755));
	put_in(u->memory, "memory.limit_in_bytes", limit);
}

__attribute__((noreturn)) static void become_agent(int go, int sock)
{
	const char *const argv[] = {"inis-agent", NULL};
	/* For instrumented builds: small enough for the unit's memory, and reports where the test finds them. */
	const char *const env[] = {
		"ASAN_OPTIONS=quarantine_size_mb=2:malloc_context_size=6:detect_leaks=0:log_path=/tmp/asan",
		"UBSAN_OPTIONS=print_stacktrace=1:log_path=/tmp/asan", NULL};
	/* Opened while still the owner of whatever folder the build is in. */
	int program = open(TEST_AGENT, O_RDONLY | O_CLOEXEC);
	char byte;

	if (read(go, &byte, 1) != 1 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		_exit(97);
	if (dup2(sock, INIS_UNIT_FD) < 0)
		_exit(98);
	fexecve(program, (char *const *)argv, (char *const *)env);
	_exit(99);
}

static void expect_status(const struct unit *u, uint32_t verb)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct pollfd p = {.fd = u->sock, .events = POLLIN};
	struct inis_unit_status status;
	cleanup_close int sock = -1;
	size_t n_fds = 0;

	if (poll(&p, 1, 20000) != 1)
		fail_msg("the agent says nothing");
	if (inis_packet_recv(u->sock, &status, sizeof(status), &sock, 1, &n_fds, &err) != sizeof(status))
		fail_msg("no status: %s", err.message);
	if (status.verb != verb)
		fail_msg("status %u, errno %d: %s", status.verb, status.sys_errno, status.text);
	if ((n_fds == 1) != (verb == INIS_UNIT_READY))
		fail_msg("status %u with %zu descriptors", status.verb, n_fds);
}

static void map_ids(const struct unit *u)
{
	char path[64], map[64];

	snprintf(map, sizeof(map), "0 %u 65536", UNIT_UID_BASE);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", u->pid);
	put(path, map);
	snprintf(path, sizeof(path), "/proc/%d/gid_map", u->pid);
	put(path, map);
}

void unit_make(struct unit *u)
{
	struct inis_error err = INIS_ERROR_INIT;
	int pair[2], go[2];
	cleanup_close int cgroup = -1;
	char pid[16];

	memset(u, 0, sizeof(*u));
	u->pidfd = u->sock = -1;
	make_root(u);
	make_cgroups(u);
	cgroup = (int)must(open(u->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	must(inis_packet_pair(pair, &err));
	must(pipe2(go, O_CLOEXEC));
	u->pid = (pid_t)must(inis_clone3(NAMESPACES, cgroup, &u->pidfd, &err));
	if (u->pid == 0)
		become_agent(go[0], pair[1]);
	map_ids(u);
	if (u->memory[0]) {
		snprintf(pid, sizeof(pid), "%d", u->pid);
		put_in(u->memory, "cgroup.procs", pid);
	}
	must(write(go[1], "g", 1));
	close(go[0]);
	close(go[1]);
	close(pair[1]);
	u->sock = pair[0];
	expect_status(u, INIS_UNIT_READY);
}

static int clone_of(const struct unit *u, const char *name)
{
	struct inis_error err = INIS_ERROR_INIT;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", u->dir, name);
	return (int)must(inis_mount_clone(AT_FDCWD, path, false, &err));
}

/* This machine's /usr, read-only, its root being the unit's root. */
static int usr_for(const struct unit *u)
{
	struct inis_error err = INIS_ERROR_INIT;
	char path[64];
	cleanup_close int userns = -1;
	int usr = (int)must(inis_mount_clone(AT_FDCWD, "/usr", false, &err));

	snprintf(path, sizeof(path), "/proc/%d/ns/user", u->pid);
	userns = (int)must(open(path, O_RDONLY | O_CLOEXEC));
	must(inis_mount_attrs(usr, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV, 0, userns, false, &err));
	return usr;
}

static int oom_counter(const struct unit *u)
{
	struct inis_error err = INIS_ERROR_INIT;
	char path[160];

	if (u->memory[0])
		snprintf(path, sizeof(path), "%s/memory.oom_control", u->memory);
	else
		snprintf(path, sizeof(path), "%s/memory.events", u->cgroup);
	return (int)must(open(path, O_RDONLY | O_CLOEXEC));
}

static int spool_dir(const struct unit *u)
{
	struct inis_error err = INIS_ERROR_INIT;
	char path[128];

	snprintf(path, sizeof(path), "%s/spool", u->dir);
	return (int)must(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void unit_activate(struct unit *u, uint32_t flags)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_unit_activate m = {
		.magic = INIS_UNIT_MAGIC,
		.verb = INIS_UNIT_ACTIVATE,
		.flags = flags,
		.fd_count = 5,
		.shm_mb = 16,
		.hostname = "guest",
		.fds = {{.kind = INIS_UNIT_FD_ROOT},
			{.kind = INIS_UNIT_FD_MOUNT, .target = "/usr"},
			{.kind = INIS_UNIT_FD_MOUNT, .target = "/dev"},
			{.kind = INIS_UNIT_FD_OOM_COUNTER},
			{.kind = INIS_UNIT_FD_SPOOL}},
	};
	int fds[5] = {clone_of(u, "root"), usr_for(u), clone_of(u, "dev"), oom_counter(u), spool_dir(u)};

	must(inis_packet_send(u->sock, &m, sizeof(m), fds, 5, &err));
	for (unsigned i = 0; i < 5; i++)
		close(fds[i]);
	expect_status(u, INIS_UNIT_ACTIVE);
}

int unit_connect(const struct unit *u)
{
	struct inis_error err = INIS_ERROR_INIT;
	int sock = (int)must(inis_net_socket_in(u->pidfd, AF_UNIX, SOCK_STREAM, &err));

	must(inis_net_connect_abstract(sock, INIS_AGENT_SOCKET, &err));
	return sock;
}

static unsigned count(const char *before, const char *path, const char *after)
{
	char command[256];
	unsigned n = 0;
	FILE *p;

	snprintf(command, sizeof(command), "%s %s %s", before, path, after);
	p = popen(command, "r");
	assert_non_null(p);
	assert_int_equal(fscanf(p, "%u", &n), 1);
	pclose(p);
	return n;
}

unsigned unit_guests(const struct unit *u)
{
	return count("find", u->cgroup,
		     "-name cgroup.procs -exec cat {} + | while read p; do cat /proc/$p/comm; done 2>/dev/null |"
		     " grep -vcx inis-agent");
}

unsigned unit_leaves(const struct unit *u)
{
	return count("find", u->cgroup, "-mindepth 1 -type d | wc -l");
}

static void remove_cgroup(const char *path)
{
	char command[160];

	snprintf(command, sizeof(command), "find %s -depth -type d -exec rmdir {} + 2>/dev/null", path);
	for (int i = 0; i < 200 && access(path, F_OK) == 0; i++) {
		if (system(command) != 0)
			usleep(10000);
	}
	assert_int_not_equal(access(path, F_OK), 0);
}

void unit_destroy(struct unit *u)
{
	char command[128];

	snprintf(command, sizeof(command), "cat %s/root/tmp/asan* 2>/dev/null", u->dir);
	/* A report of a sanitizer is a failure. */
	assert_int_not_equal(system(command), 0);
	put_in(u->cgroup, "cgroup.kill", "1");
	assert_int_equal(waitpid(u->pid, NULL, 0), u->pid);
	close(u->pidfd);
	close(u->sock);
	remove_cgroup(u->cgroup);
	if (u->memory[0])
		remove_cgroup(u->memory);
	snprintf(command, sizeof(command), "rm -rf %s", u->dir);
	assert_int_equal(system(command), 0);
}
