/* SPDX-License-Identifier: Apache-2.0
 *
 * blocked.c - the real programs where something is in their way, made here: a masked /proc, a user namespace that may
 * have no other inside, filters, missing rights, a kernel that calls itself old.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "os/cgroup.h"
#include "os/path.h"

#define CANNOT_MAKE 100 /* exit status: this machine cannot be blocked like that */

/* Run in the child before the program; false: not possible here. */
typedef bool (*obstacle)(void);

struct run {
	char dir[64];
	char text[65536];
	int status;
};

static bool none(void)
{
	return true;
}

static bool own_mounts(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool mask_proc(void)
{
	return own_mounts() && mount("none", "/proc/sys", "tmpfs", MS_RDONLY, NULL) == 0;
}

static bool map_all_ids(pid_t pid)
{
	static const char *const maps[] = {"uid_map", "gid_map"};

	for (int i = 0; i < 2; i++) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, maps[i]);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "0 0 4294967295", 14) != 14)
			return false;
		close(fd);
	}
	return true;
}

/* The limit is one of the user namespace itself, so this touches nobody else. */
static bool allow_no_namespaces(void)
{
	int fds[2];
	char byte;
	pid_t parent = getpid();
	pid_t mapper;
	int fd;

	if (pipe(fds) < 0 || (mapper = fork()) < 0)
		return false;
	if (mapper == 0)
		_exit(read(fds[0], &byte, 1) == 1 && map_all_ids(parent) ? 0 : 1);
	if (unshare(CLONE_NEWUSER) < 0 || write(fds[1], "", 1) != 1 || waitpid(mapper, &fd, 0) != mapper || fd != 0)
		return false;
	fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, "0", 1) == 1;
}

static bool deny(int call, int sys_errno)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	return ctx && seccomp_rule_add(ctx, SCMP_ACT_ERRNO((unsigned)sys_errno), call, 0) == 0 &&
	       seccomp_load(ctx) == 0;
}

static bool deny_clone3(void)
{
	return deny(SCMP_SYS(clone3), ENOSYS);
}

static bool deny_new_mounts(void)
{
	return deny(SCMP_SYS(fsopen), EPERM);
}

static bool drop_rights(void)
{
	return prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN) == 0;
}

static bool pretend_old_kernel(void)
{
	return personality(UNAME26) >= 0;
}

static bool cgroups_read_only(void)
{
	struct inis_cgroup_layout layout;
	char text[65536];

	if (!own_mounts() || inis_read_at(AT_FDCWD, "/proc/self/mountinfo", text, sizeof(text), NULL) < 0)
		return false;
	inis_cgroup_layout_parse(text, &layout);
	return mount(NULL, layout.v2, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0;
}

static bool hide_loop_devices(void)
{
	char made[] = "/tmp/inis-dev.XXXXXX";

	if (!own_mounts() || !mkdtemp(made) || mount("none", made, "tmpfs", 0, NULL) < 0)
		return false;
	/* An empty /dev with what any program wants. */
	if (chdir(made) < 0 || mknod("null", S_IFCHR | 0666, 0x103) < 0 || mknod("urandom", S_IFCHR | 0666, 0x109) < 0)
		return false;
	if (mount(made, "/dev", NULL, MS_MOVE, NULL) < 0)
		return false;
	return chdir("/") == 0 && rmdir(made) == 0;
}

static void collect(struct run *r, int from, pid_t pid)
{
	size_t n = 0;
	ssize_t got;
	int status;

	while ((got = read(from, r->text + n, sizeof(r->text) - 1 - n)) > 0)
		n += (size_t)got;
	r->text[n] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs inisd with this verb behind the obstacle. `stream` is what of it is read. */
static void run(struct run *r, obstacle before, const char *verb, const char *option, int stream)
{
	int fds[2];
	pid_t pid;

	if (geteuid() != 0) {
		print_message("skipped: obstacles need root\n");
		skip();
	}
	snprintf(r->dir, sizeof(r->dir), "/tmp/inis-doctor-test.XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	assert_int_equal(chmod(r->dir, 0711), 0);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		char state[80];

		snprintf(state, sizeof(state), "%s/state", r->dir);
		if (dup2(fds[1], stream) < 0 || !before())
			_exit(CANNOT_MAKE);
		execl(SERVER_PROGRAM, "inisd", verb, "--listen", "127.0.0.1:0", "--state-dir", state, option,
		      (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	collect(r, fds[0], pid);
	close(fds[0]);
}

/* Everything a run leaves must be in its directory, and of the doctor nothing is. */
static void forget(struct run *r, bool empty)
{
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);

	if (empty)
		assert_int_equal(rmdir(r->dir), 0);
	else
		assert_int_equal(inis_remove_tree_at(tmp, strrchr(r->dir, '/') + 1, NULL), 0);
}

static const char *field_of(json_t *report, const char *check, const char *field)
{
	size_t i;
	json_t *c;

	json_array_foreach (json_object_get(report, "checks"), i, c) {
		if (strcmp(json_string_value(json_object_get(c, "name")), check) == 0)
			return json_string_value(json_object_get(c, field));
	}
	fail_msg("there is no check %s", check);
	return "";
}

static void expect_blocked(obstacle before, const char *check, const char *status, const char *knob)
{
	static struct run r;
	json_t *report;

	run(&r, before, "doctor", "--json", STDOUT_FILENO);
	if (r.status == CANNOT_MAKE) {
		forget(&r, true);
		print_message("skipped: this machine cannot be blocked like that\n");
		skip();
	}
	report = json_loads(r.text, 0, NULL);
	if (!report)
		fail_msg("exit %d: %s", r.status, r.text);
	assert_int_equal(r.status, strcmp(status, "blocked") == 0);
	assert_int_equal(json_is_true(json_object_get(report, "ok")), r.status == 0);
	assert_string_equal(field_of(report, check, "status"), status);
	if (!strstr(field_of(report, check, "knob"), knob))
		fail_msg("%s: knob \"%s\", detail \"%s\"", check, field_of(report, check, "knob"),
			 field_of(report, check, "detail"));
	if (knob[0])
		assert_string_not_equal(field_of(report, check, "advice"), "");
	json_decref(report);
	forget(&r, true);
}

static void T11_doctor_finds_nothing_wrong_where_sessions_can_be_made(void **state)
{
	(void)state;
	expect_blocked(none, "session", "ok", "");
}

static void T11_doctor_names_a_masked_proc(void **state)
{
	(void)state;
	expect_blocked(mask_proc, "proc", "blocked", "/proc/sys is covered by a mount");
}

static void T11_doctor_names_the_limit_of_user_namespaces(void **state)
{
	(void)state;
	expect_blocked(allow_no_namespaces, "user_namespace", "blocked", "user.max_user_namespaces = 0");
}

static void T11_doctor_names_a_filter_that_refuses_namespaces(void **state)
{
	(void)state;
	expect_blocked(deny_clone3, "user_namespace", "blocked", "seccomp filter");
}

static void T11_doctor_names_a_filter_that_refuses_mounts(void **state)
{
	(void)state;
	expect_blocked(deny_new_mounts, "proc", "blocked", "seccomp filter");
}

static void T11_doctor_names_a_missing_capability(void **state)
{
	(void)state;
	expect_blocked(drop_rights, "rights", "blocked", "CAP_SYS_ADMIN");
}

static void T11_doctor_names_read_only_cgroups(void **state)
{
	(void)state;
	expect_blocked(cgroups_read_only, "cgroups", "blocked", "cgroup v2 is mounted read-only");
}

static void T11_without_loop_devices_disks_are_soft_and_the_doctor_says_so(void **state)
{
	(void)state;
	expect_blocked(hide_loop_devices, "disk_limit", "degraded", "/dev/loop-control");
}

static void T5_an_older_kernel_is_named(void **state)
{
	(void)state;
	expect_blocked(pretend_old_kernel, "kernel", "blocked", "the kernel");
}

static void expect_refused(obstacle before, const char *what, const char *advice)
{
	static struct run r;

	run(&r, before, "serve", NULL, STDERR_FILENO);
	if (r.status != 1 || !strstr(r.text, "inisd: this machine cannot run sessions: ") || !strstr(r.text, what) ||
	    !strstr(r.text, advice))
		fail_msg("exit %d: %s", r.status, r.text);
	forget(&r, false);
}

static void T11_a_server_does_not_start_where_doctor_says_it_cannot_and_says_the_same(void **state)
{
	(void)state;
	expect_refused(mask_proc, "what blocks it: /proc is masked: /proc/sys is covered", "systempaths=unconfined");
}

static void T5_a_server_does_not_start_on_an_older_kernel(void **state)
{
	(void)state;
	expect_refused(pretend_old_kernel, "Linux 6.1 or later is needed; this is 2.6.", "run Linux 6.1 or later");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(T11_doctor_finds_nothing_wrong_where_sessions_can_be_made),
		cmocka_unit_test(T11_doctor_names_a_masked_proc),
		cmocka_unit_test(T11_doctor_names_the_limit_of_user_namespaces),
		cmocka_unit_test(T11_doctor_names_a_filter_that_refuses_namespaces),
		cmocka_unit_test(T11_doctor_names_a_filter_that_refuses_mounts),
		cmocka_unit_test(T11_doctor_names_a_missing_capability),
		cmocka_unit_test(T11_doctor_names_read_only_cgroups),
		cmocka_unit_test(T11_without_loop_devices_disks_are_soft_and_the_doctor_says_so),
		cmocka_unit_test(T5_an_older_kernel_is_named),
		cmocka_unit_test(T11_a_server_does_not_start_where_doctor_says_it_cannot_and_says_the_same),
		cmocka_unit_test(T5_a_server_does_not_start_on_an_older_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
