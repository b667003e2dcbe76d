/* SPDX-License-Identifier: Apache-2.0
 *
 * boundary.c - what a unit is held by, tried with more rights than a guest can ever have.
 *
 * The tests enter a unit's user and mount namespaces from outside and so hold every capability in them, as if both
 * the agent and its system call filter had fallen.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "harness.h"

static struct bench bench;
static struct inis_broker_unit unit;

static int start_unit(void **state)
{
	struct unit_id id;

	(void)state;
	if (geteuid() != 0)
		return 0;
	bench_init(&bench, 0);
	bench_start(&bench);
	id = bench_create(&bench, NULL);
	unit = bench_row(&bench, &id);
	return 0;
}

static int end_unit(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return 0;
	bench_destroy(&bench, &unit.id);
	bench_free(&bench);
	return 0;
}

static void need_unit(void)
{
	if (geteuid() != 0) {
		print_message("skipped: units need root\n");
		skip();
	}
}

/* Runs fn as root of the unit with all capabilities in it, in a copy of its mounts; gives what it returns. */
static int inside(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = pidfd_open(unit.pid, 0);

		if (fd < 0 || setns(fd, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP) < 0 || setgid(0) < 0 ||
		    setuid(0) < 0 || unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
			_exit(99);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void in_root(char *out, size_t size, const char *path)
{
	snprintf(out, size, "/proc/%d/root%s", unit.pid, path);
}

static int remount_and_write_usr(void)
{
	mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL);
	mount(NULL, "/usr", NULL, MS_REMOUNT, NULL);
	return open("/usr/planted", O_WRONLY | O_CREAT, 0644) < 0 ? errno : 0;
}

static void the_hosts_usr_cannot_be_written_whatever_rights_the_guest_gains(void **state)
{
	(void)state;
	need_unit();
	assert_int_equal(inside(remount_and_write_usr), EROFS);
	assert_int_equal(access("/usr/planted", F_OK), -1);
}

static int change_dev(void)
{
	mount(NULL, "/dev", NULL, MS_REMOUNT | MS_BIND, NULL);
	if (chmod("/dev/null", 0600) == 0 || unlink("/dev/null") == 0)
		return 1;
	return mknod("/tmp/disk", S_IFBLK | 0600, makedev(7, 0)) == 0 ? 2 : 0;
}

static void shared_device_nodes_cannot_be_changed_and_none_made(void **state)
{
	(void)state;
	need_unit();
	assert_int_equal(inside(change_dev), 0);
}

static int raise_limits(void)
{
	static const char *const files[] = {"cgroup.max.depth", "cgroup.freeze", "cpu.max", "memory.max", "pids.max"};

	if (mount("cgroup2", "/mnt", "cgroup2", 0, NULL) < 0)
		return 98;
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), "/mnt/%s", files[i]);
		if (open(path, O_WRONLY) >= 0)
			return 1 + (int)i;
	}
	/* Above the unit's own group there is nothing. */
	return access("/mnt/../inis", F_OK) == 0 ? 97 : 0;
}

static void the_units_limits_are_out_of_its_reach(void **state)
{
	(void)state;
	need_unit();
	assert_int_equal(inside(raise_limits), 0);
}

static void the_agent_runs_as_an_id_of_the_units_own_range(void **state)
{
	char path[64];
	char line[256];
	unsigned uid = 0;
	FILE *status;

	(void)state;
	need_unit();
	snprintf(path, sizeof(path), "/proc/%d/status", unit.pid);
	status = fopen(path, "re");
	assert_non_null(status);
	while (fgets(line, sizeof(line), status)) {
		if (sscanf(line, "Uid: %u", &uid) == 1)
			break;
	}
	fclose(status);
	assert_int_equal(uid, unit.uid_base);
	assert_int_equal(uid % 65536, 0);
}

static void T9_files_of_the_base_belong_to_guest_ids_without_any_chown(void **state)
{
	char path[128];
	struct stat st;

	(void)state;
	need_unit();
	in_root(path, sizeof(path), "/workspace");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, unit.uid_base + 999);
	in_root(path, sizeof(path), "/usr/bin/env");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, unit.uid_base);
	in_root(path, sizeof(path), "/etc/hostname");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, unit.uid_base);
}

static int lists_entries(const char *path)
{
	char full[128];
	struct dirent *e;
	DIR *dir;
	int n = 0;

	in_root(full, sizeof(full), path);
	dir = opendir(full);
	if (!dir)
		return -1;
	while ((e = readdir(dir)))
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(dir);
	return n;
}

static void nothing_private_of_the_host_is_visible(void **state)
{
	static const char *const empty[] = {"/root", "/opt", "/srv", "/mnt", "/boot", "/sys", "/var/log", "/var/cache"};
	static const char *const absent[] = {"/etc/ssh",   "/etc/ssl/private", "/etc/apt",    "/etc/gitconfig",
					     "/etc/npmrc", "/etc/pip.conf",    "/etc/shadow-"};
	char path[128];

	(void)state;
	need_unit();
	for (unsigned i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		if (lists_entries(empty[i]) != 0)
			fail_msg("%s: %d entries", empty[i], lists_entries(empty[i]));
	}
	for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		in_root(path, sizeof(path), absent[i]);
		assert_int_equal(access(path, F_OK), -1);
	}
	in_root(path, sizeof(path), "/usr/local/etc");
	if (access(path, F_OK) == 0)
		assert_int_equal(lists_entries("/usr/local/etc"), 0);
	assert_int_equal(lists_entries("/home"), 1);
}

static void the_disk_has_the_size_that_was_asked_for(void **state)
{
	char path[64];
	struct statvfs st;

	(void)state;
	need_unit();
	in_root(path, sizeof(path), "/");
	assert_int_equal(statvfs(path, &st), 0);
	assert_int_equal(unit.disk_kind, INIS_DISK_HARD);
	assert_in_range(st.f_blocks * st.f_frsize, 192ULL << 20, 256ULL << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hosts_usr_cannot_be_written_whatever_rights_the_guest_gains),
		cmocka_unit_test(shared_device_nodes_cannot_be_changed_and_none_made),
		cmocka_unit_test(the_units_limits_are_out_of_its_reach),
		cmocka_unit_test(the_agent_runs_as_an_id_of_the_units_own_range),
		cmocka_unit_test(T9_files_of_the_base_belong_to_guest_ids_without_any_chown),
		cmocka_unit_test(nothing_private_of_the_host_is_visible),
		cmocka_unit_test(the_disk_has_the_size_that_was_asked_for),
	};

	bench_group_setup(NULL);
	return cmocka_run_group_tests_name("broker_boundary", tests, start_unit, end_unit);
}
