/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.c - the steps of a create that the kernel must do.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "doctor/doctor.h"
#include "os/mount.h"
#include "os/net.h"
#include "os/priv.h"

#define LOCKED_DOWN (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define UNIT_NAMESPACES                                                                                      \
	((uint64_t)CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
	 CLONE_NEWTIME)

void doctor_failed(struct doctor_check *c, const struct doctor_subject *s, const struct inis_error *err)
{
	c->status = DOCTOR_BLOCKED;
	snprintf(c->detail, sizeof(c->detail), "%s", err->message);
	doctor_blame(c, &s->facts, err->sys_errno);
}

struct doctor_check *doctor_try(struct doctor_report *r, const struct doctor_subject *s, const char *name,
				enum doctor_step step, doctor_probe fn, void *ctx, const char *detail)
{
	struct doctor_check *c = doctor_add(r, name, step);
	struct inis_error err = INIS_ERROR_INIT;

	snprintf(c->detail, sizeof(c->detail), "%s", detail);
	if (doctor_apart(fn, ctx, &err) < 0)
		doctor_failed(c, s, &err);
	return c;
}

static void check_kernel(struct doctor_report *r, const struct doctor_subject *s)
{
	struct doctor_check *c = doctor_add(r, "kernel", DOCTOR_STEP_KERNEL);
	struct inis_error err = INIS_ERROR_INIT;
	struct utsname name;
	unsigned major_number = 0;
	unsigned minor_number = 0;

	uname(&name);
	snprintf(c->detail, sizeof(c->detail), "Linux %s", name.release);
	if (sscanf(name.release, "%u.%u", &major_number, &minor_number) == 2 &&
	    (major_number > 6 || (major_number == 6 && minor_number >= 1)))
		return;
	inis_fail(&err, INIS_UNAVAILABLE, "Linux 6.1 or later is needed; this is %s", name.release);
	doctor_failed(c, s, &err);
}

static void check_rights(struct doctor_report *r, const struct doctor_subject *s)
{
	struct doctor_check *c = doctor_add(r, "rights", DOCTOR_STEP_RIGHTS);
	struct inis_error err = INIS_ERROR_INIT;

	snprintf(c->detail, sizeof(c->detail), "root%s", s->facts.container ? ", inside a container" : "");
	if (geteuid() == 0 && inis_has_cap(CAP_SYS_ADMIN))
		return;
	inis_fail(&err, INIS_FORBIDDEN, "uid %u%s", geteuid(), geteuid() == 0 ? " without the rights of root" : "");
	doctor_failed(c, s, &err);
}

struct machine {
	const struct doctor_subject *s;
	uint64_t flags;
};

static int nothing(void *ctx, struct inis_error *err)
{
	(void)ctx;
	(void)err;
	return 0;
}

static int unshare_cgroup(void *ctx, struct inis_error *err)
{
	(void)ctx;
	return unshare(CLONE_NEWCGROUP) < 0 ? inis_fail_errno(err, "unshare a cgroup namespace") : 0;
}

static int try_namespace(void *ctx, struct inis_error *err)
{
	struct machine *m = ctx;
	bool late = m->flags & CLONE_NEWCGROUP;

	return doctor_in_namespaces(CLONE_NEWUSER | (late ? 0 : m->flags), m->s->uid_base,
				    late ? unshare_cgroup : nothing, NULL, err);
}

static void check_namespaces(struct doctor_report *r, const struct doctor_subject *s)
{
	static const struct {
		const char *name;
		uint64_t flag;
	} kinds[DOCTOR_NS_COUNT] = {
		[DOCTOR_NS_USER] = {"user_namespace", CLONE_NEWUSER},
		[DOCTOR_NS_MNT] = {"mount_namespace", CLONE_NEWNS},
		[DOCTOR_NS_PID] = {"pid_namespace", CLONE_NEWPID},
		[DOCTOR_NS_NET] = {"network_namespace", CLONE_NEWNET},
		[DOCTOR_NS_IPC] = {"ipc_namespace", CLONE_NEWIPC},
		[DOCTOR_NS_UTS] = {"uts_namespace", CLONE_NEWUTS},
		[DOCTOR_NS_CGROUP] = {"cgroup_namespace", CLONE_NEWCGROUP},
		[DOCTOR_NS_TIME] = {"time_namespace", CLONE_NEWTIME},
	};

	for (unsigned i = 0; i < DOCTOR_NS_COUNT; i++) {
		struct machine m = {.s = s, .flags = kinds[i].flag};
		struct doctor_check *c = doctor_add(r, kinds[i].name, DOCTOR_STEP_NAMESPACE);
		struct inis_error err = INIS_ERROR_INIT;

		c->ns = (enum doctor_namespace)i;
		snprintf(c->detail, sizeof(c->detail), "can be made");
		if (doctor_apart(try_namespace, &m, &err) < 0) {
			doctor_failed(c, s, &err);
			/* All others are made inside one. */
			if (i == DOCTOR_NS_USER)
				return;
		}
	}
}

static int mount_proc(void *ctx, struct inis_error *err)
{
	cleanup_close int fd = inis_mount_new("proc", NULL, 0, LOCKED_DOWN, err);

	(void)ctx;
	return fd < 0 ? -1 : 0;
}

static int mount_others(void *ctx, struct inis_error *err)
{
	const struct inis_mount_option pts[] = {INIS_OPT_FLAG("newinstance"), INIS_OPT_TEXT("ptmxmode", "0666")};
	cleanup_close int pts_fd = inis_mount_new("devpts", pts, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, err);
	cleanup_close int shm = pts_fd < 0 ? -1 : inis_mount_new("tmpfs", NULL, 0, LOCKED_DOWN, err);
	cleanup_close int queue = shm < 0 ? -1 : inis_mount_new("mqueue", NULL, 0, LOCKED_DOWN, err);

	(void)ctx;
	return queue < 0 ? -1 : 0;
}

static int lo_up(void *ctx, struct inis_error *err)
{
	(void)ctx;
	return inis_net_lo_up(err);
}

/* A filter that lets everything through is as hard to load as any. */
static int load_filter(void *ctx, struct inis_error *err)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = 1, .filter = &allow};

	(void)ctx;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return inis_fail_errno(err, "load a system call filter");
	return 0;
}

struct inside {
	const struct doctor_subject *s;
	doctor_probe fn;
};

static int try_inside(void *ctx, struct inis_error *err)
{
	struct inside *in = ctx;

	if (doctor_own_mounts(err) < 0)
		return -1;
	return doctor_in_namespaces(UNIT_NAMESPACES, in->s->uid_base, in->fn, NULL, err);
}

static void check_inside(struct doctor_report *r, const struct doctor_subject *s)
{
	struct inside proc = {s, mount_proc};
	struct inside others = {s, mount_others};
	struct inside lo = {s, lo_up};
	struct inside filter = {s, load_filter};

	doctor_try(r, s, "proc", DOCTOR_STEP_PROC, try_inside, &proc, "a session can have a /proc of its own");
	doctor_try(r, s, "kernel_file_systems", DOCTOR_STEP_MOUNT, try_inside, &others, "devpts, tmpfs, mqueue");
	doctor_try(r, s, "network", DOCTOR_STEP_NETWORK, try_inside, &lo, "loopback of a session comes up");
	doctor_try(r, s, "seccomp", DOCTOR_STEP_SECCOMP, try_inside, &filter, "filters can be loaded");
}

void doctor_check_machine(struct doctor_report *r, const struct doctor_subject *s)
{
	check_kernel(r, s);
	check_rights(r, s);
	if (doctor_blocked(r))
		return;
	check_namespaces(r, s);
	doctor_check_cgroups(r, s);
	/* The rest happens inside of namespaces. */
	if (doctor_blocked(r))
		return;
	check_inside(r, s);
	if (s->scratch)
		doctor_check_layers(r, s);
}

void doctor_check_later(struct doctor_report *r)
{
	static const struct {
		const char *name;
		const char *path;
		const char *there;
		const char *missing;
	} later[] = {
		{"kvm", "/dev/kvm", "/dev/kvm is there: virtual machines would be possible", "no /dev/kvm"},
		{"criu", "/usr/sbin/criu", "CRIU is installed: forks of running sessions would be possible", "no CRIU"},
	};

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		struct doctor_check *c = doctor_add(r, later[i].name, DOCTOR_STEP_FILES);

		c->status = DOCTOR_UNUSED;
		snprintf(c->detail, sizeof(c->detail), "%s",
			 access(later[i].path, F_OK) == 0 ? later[i].there : later[i].missing);
	}
}
