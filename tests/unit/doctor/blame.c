/* SPDX-License-Identifier: Apache-2.0
 *
 * blame.c - knobs of machines that this one is not: their files stand below a directory, and the doctor reads them.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "doctor/report.h"
#include "os/path.h"

#define FILES_MAX 6

#define ROOT_CAPS   "Name:\tinisd\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n"
#define DOCKER_CAPS "Name:\tinisd\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n"
#define FILTERED    "Name:\tinisd\nCapEff:\t000001ffffffffff\nSeccomp:\t2\n"
#define USER_CAPS   "Name:\tinisd\nCapEff:\t0000000000000000\nSeccomp:\t0\n"

#define CGROUP2 "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define PROC    "22 24 0:20 / /proc rw,nosuid - proc proc rw\n"

struct file {
	const char *path;
	const char *text;
};

struct machine {
	const char *name;
	struct file files[FILES_MAX];
	enum doctor_step step;
	enum doctor_namespace ns;
	int sys_errno;
	const char *detail; /* what the step said */
	const char *knob; /* part of it; NULL: none may be named */
	const char *advice;
};

static const struct machine MACHINES[] = {
	{"Ubuntu, in a user namespace",
	 {{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"},
	  {"proc/self/status", ROOT_CAPS},
	  {"proc/self/uid_map", "         0       1000          1\n"}},
	 DOCTOR_STEP_MOUNT,
	 0,
	 EPERM,
	 "",
	 "kernel.apparmor_restrict_unprivileged_userns = 1",
	 "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
	{"Ubuntu, as a user",
	 {{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"}, {"proc/self/status", USER_CAPS}},
	 DOCTOR_STEP_NAMESPACE,
	 DOCTOR_NS_USER,
	 EACCES,
	 "",
	 "kernel.apparmor_restrict_unprivileged_userns = 1",
	 "userns,"},
	{"Ubuntu, as root: not that",
	 {{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"},
	  {"proc/self/status", ROOT_CAPS},
	  {"proc/self/uid_map", "         0          0 4294967295\n"}},
	 DOCTOR_STEP_MOUNT,
	 0,
	 EPERM,
	 "",
	 NULL,
	 NULL},
	{"Debian, as a user",
	 {{"proc/sys/kernel/unprivileged_userns_clone", "0\n"}, {"proc/self/status", USER_CAPS}},
	 DOCTOR_STEP_NAMESPACE,
	 DOCTOR_NS_USER,
	 EPERM,
	 "",
	 "kernel.unprivileged_userns_clone = 0",
	 "kernel.unprivileged_userns_clone=1"},
	{"no user namespaces",
	 {{"proc/sys/user/max_user_namespaces", "0\n"}, {"proc/self/status", ROOT_CAPS}},
	 DOCTOR_STEP_NAMESPACE,
	 DOCTOR_NS_USER,
	 ENOSPC,
	 "",
	 "user.max_user_namespaces = 0",
	 "sysctl -w"},
	{"few network namespaces",
	 {{"proc/sys/user/max_net_namespaces", "3\n"}, {"proc/sys/user/max_user_namespaces", "9999\n"}},
	 DOCTOR_STEP_NAMESPACE,
	 DOCTOR_NS_NET,
	 ENOSPC,
	 "",
	 "user.max_net_namespaces = 3",
	 "each session takes one"},
	{"a kernel without time namespaces",
	 {{"proc/self/status", ROOT_CAPS}},
	 DOCTOR_STEP_NAMESPACE,
	 DOCTOR_NS_TIME,
	 EINVAL,
	 "",
	 "without time namespaces",
	 "kernel"},
	{"docker: profile",
	 {{".dockerenv", ""},
	  {"proc/self/attr/apparmor/current", "docker-default (enforce)\n"},
	  {"proc/self/status", FILTERED}},
	 DOCTOR_STEP_MOUNT,
	 0,
	 EACCES,
	 "",
	 "docker-default (enforce)",
	 "apparmor=unconfined"},
	{"docker: profile, as older kernels show it",
	 {{"proc/self/attr/current", "docker-default (enforce)\n"},
	  {"proc/self/status", ROOT_CAPS},
	  {"proc/self/mountinfo", CGROUP2}},
	 DOCTOR_STEP_CGROUP,
	 0,
	 EACCES,
	 "",
	 "docker-default (enforce)",
	 "apparmor=unconfined"},
	{"a profile that only complains",
	 {{"proc/self/attr/current", "inisd (complain)\n"}, {"proc/self/status", ROOT_CAPS}},
	 DOCTOR_STEP_MOUNT,
	 0,
	 EACCES,
	 "",
	 NULL,
	 NULL},
	{"docker: filter",
	 {{"proc/self/status", FILTERED}},
	 DOCTOR_STEP_NAMESPACE,
	 DOCTOR_NS_USER,
	 ENOSYS,
	 "",
	 "seccomp filter",
	 "seccomp=unconfined"},
	{"docker: rights",
	 {{"proc/self/status", DOCKER_CAPS}},
	 DOCTOR_STEP_RIGHTS,
	 0,
	 0,
	 "",
	 "CAP_SYS_ADMIN",
	 "--privileged"},
	{"docker: masked /proc",
	 {{"proc/self/mountinfo", PROC "23 22 0:21 /null /proc/kcore rw - devtmpfs devtmpfs rw\n"
				       "24 22 0:21 /null /proc/keys rw - devtmpfs devtmpfs rw\n"}},
	 DOCTOR_STEP_PROC,
	 0,
	 EPERM,
	 "",
	 "/proc/keys and other parts",
	 "systempaths=unconfined"},
	{"/proc read-only",
	 {{"proc/self/mountinfo", "22 24 0:20 / /proc ro,nosuid - proc proc rw\n"}},
	 DOCTOR_STEP_PROC,
	 0,
	 EPERM,
	 "",
	 "read-only",
	 "procMount"},
	{"an automount in /proc hides nothing",
	 {{"proc/self/mountinfo", PROC "23 22 0:30 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n"}},
	 DOCTOR_STEP_PROC,
	 0,
	 EPERM,
	 "",
	 NULL,
	 NULL},
	{"SELinux",
	 {{"sys/fs/selinux/enforce", "1"}, {"proc/self/attr/current", "system_u:system_r:container_t:s0"}},
	 DOCTOR_STEP_MOUNT,
	 0,
	 EACCES,
	 "",
	 "SELinux",
	 "label=disable"},
	{"no cgroup v2",
	 {{"proc/self/mountinfo", PROC}},
	 DOCTOR_STEP_CGROUP,
	 0,
	 0,
	 "no cgroup v2 hierarchy is mounted",
	 "cgroup v2 is not mounted",
	 "mount -t cgroup2"},
	{"cgroup v2 read-only",
	 {{"proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw\n"}},
	 DOCTOR_STEP_CGROUP,
	 0,
	 EROFS,
	 "",
	 "read-only at /sys/fs/cgroup",
	 "cgroupns=private"},
	{"controllers not delegated",
	 {{"proc/self/mountinfo", CGROUP2}},
	 DOCTOR_STEP_CGROUP,
	 0,
	 ENOENT,
	 "enable the cgroup controllers cpu, memory and pids below /sys/fs/cgroup",
	 "controllers",
	 "Delegate=yes"},
	{"a kernel without overlays",
	 {{"proc/filesystems", "nodev\tproc\n\text4\n"}},
	 DOCTOR_STEP_OVERLAY,
	 0,
	 ENODEV,
	 "",
	 "overlayfs",
	 "modprobe overlay"},
	{"no loop devices",
	 {{"proc/filesystems", "nodev\toverlay\n\text4\n"}},
	 DOCTOR_STEP_DISK,
	 0,
	 ENOENT,
	 "",
	 "/dev/loop-control",
	 "modprobe loop"},
	{"no ext4",
	 {{"proc/filesystems", "nodev\toverlay\n\txfs\n"}, {"dev/loop-control", ""}},
	 DOCTOR_STEP_DISK,
	 0,
	 ENODEV,
	 "",
	 "ext4",
	 "modprobe ext4"},
	{"no mkfs",
	 {{"dev/loop-control", ""}},
	 DOCTOR_STEP_DISK,
	 0,
	 ENOENT,
	 "run mkfs.ext4: No such file or directory",
	 "mkfs.ext4",
	 "e2fsprogs"},
	{"a state directory on an overlay",
	 {{"proc/filesystems", "nodev\toverlay\n\text4\n"}},
	 DOCTOR_STEP_IDMAP,
	 0,
	 EINVAL,
	 "",
	 "file system of the state directory",
	 "--state-dir"},
	{"an old kernel", {{"proc/self/status", ROOT_CAPS}}, DOCTOR_STEP_KERNEL, 0, 0, "", "the kernel", "Linux 6.1"},
	{"a machine that says nothing", {{"proc", NULL}}, DOCTOR_STEP_MOUNT, 0, EPERM, "", NULL, NULL},
};

static char root_path[] = "/tmp/inis-doctor-test.XXXXXX";

static void put(int root, const struct file *f)
{
	char part[128];

	for (const char *slash = strchr(f->path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - f->path), f->path);
		if (mkdirat(root, part, 0755) < 0)
			assert_int_equal(errno, EEXIST);
	}
	if (f->text)
		assert_int_equal(inis_create_at(root, f->path, f->text, 0644, NULL), 0);
}

static void look_at(const struct machine *m, struct doctor_check *c)
{
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);
	cleanup_close int root = -1;
	struct doctor_facts facts;

	strcpy(root_path + strlen(root_path) - 6, "XXXXXX");
	assert_non_null(mkdtemp(root_path));
	root = inis_open_dir(root_path, NULL);
	for (unsigned i = 0; i < FILES_MAX && m->files[i].path; i++)
		put(root, &m->files[i]);
	doctor_facts_read(&facts, root);
	*c = (struct doctor_check){.name = m->name, .step = m->step, .ns = m->ns};
	snprintf(c->detail, sizeof(c->detail), "%s", m->detail);
	doctor_blame(c, &facts, m->sys_errno);
	assert_int_equal(inis_remove_tree_at(tmp, strrchr(root_path, '/') + 1, NULL), 0);
}

static void T11_the_knob_that_blocks_a_step_is_named_with_what_to_do(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(MACHINES) / sizeof(MACHINES[0]); i++) {
		const struct machine *m = &MACHINES[i];
		struct doctor_check c;

		look_at(m, &c);
		if (m->knob ? !strstr(c.knob, m->knob) : c.knob[0] != '\0')
			fail_msg("%s: knob \"%s\"", m->name, c.knob);
		if (m->advice ? !strstr(c.advice, m->advice) : c.advice[0] != '\0')
			fail_msg("%s: advice \"%s\"", m->name, c.advice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(T11_the_knob_that_blocks_a_step_is_named_with_what_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
