/* SPDX-License-Identifier: Apache-2.0
 *
 * blame.c - from a step that failed to the knob that stands in its way.
 *
 * An ordered list of rules: the first whose steps, error and facts fit says what it is. The surest come first; the
 * broad ones (a filter, a security module) last.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "doctor/report.h"

#define STEP(name_) (1u << DOCTOR_STEP_##name_)
#define ANY_ERROR   0

/* Steps that are system calls a runtime or a security module may refuse. */
#define REFUSABLE                                                                                                  \
	(STEP(NAMESPACE) | STEP(PROC) | STEP(MOUNT) | STEP(NETWORK) | STEP(CGROUP) | STEP(IDMAP) | STEP(OVERLAY) | \
	 STEP(DISK) | STEP(SECCOMP) | STEP(UNIT))

struct blame_case {
	struct doctor_check *c;
	const struct doctor_facts *f;
};

/* Says so in c->knob when it is this. */
typedef bool (*blame_fn)(const struct blame_case *k);

#define KNOB(k_, ...) (snprintf((k_)->c->knob, sizeof((k_)->c->knob), __VA_ARGS__), true)

static bool lacks_cap(const struct doctor_facts *f)
{
	return f->caps_known && !(f->caps & (1ULL << CAP_SYS_ADMIN));
}

static bool is_old_kernel(const struct blame_case *k)
{
	return KNOB(k, "the kernel");
}

static bool is_missing_root(const struct blame_case *k)
{
	return lacks_cap(k->f) && KNOB(k, "the capability CAP_SYS_ADMIN, which this process does not have");
}

static bool is_namespace_limit(const struct blame_case *k)
{
	const char *name = doctor_namespace_name(k->c->ns);
	long max = k->f->ns_max[k->c->ns];

	return max < 0 ? KNOB(k, "user.max_%s_namespaces", name) : KNOB(k, "user.max_%s_namespaces = %ld", name, max);
}

static bool is_kernel_without(const struct blame_case *k)
{
	return KNOB(k, "a kernel built without %s namespaces", doctor_namespace_name(k->c->ns));
}

static bool is_covered_proc(const struct blame_case *k)
{
	if (k->f->proc_covered > 0)
		return KNOB(k, "/proc is masked: %s%s", k->f->proc_example,
			    k->f->proc_covered > 1 ? " and other parts of it are covered by mounts"
						   : " is covered by a mount");
	return k->f->proc_read_only && KNOB(k, "/proc is mounted read-only");
}

static bool is_missing_cgroup2(const struct blame_case *k)
{
	return !k->f->cgroup2 && KNOB(k, "cgroup v2 is not mounted");
}

static bool is_read_only_cgroup2(const struct blame_case *k)
{
	return k->f->cgroup2_read_only && KNOB(k, "cgroup v2 is mounted read-only at %s", k->f->cgroup2_at);
}

static bool is_cgroup_controllers(const struct blame_case *k)
{
	return strstr(k->c->detail, "controller") && KNOB(k, "cgroup controllers that are missing or not delegated");
}

static bool is_missing_overlay(const struct blame_case *k)
{
	return k->f->filesystems_known && !k->f->overlay && KNOB(k, "overlayfs is not in /proc/filesystems");
}

static bool is_missing_loop(const struct blame_case *k)
{
	return !k->f->loop_control && KNOB(k, "/dev/loop-control is missing");
}

static bool is_missing_ext4(const struct blame_case *k)
{
	return k->f->filesystems_known && !k->f->ext4 && KNOB(k, "ext4 is not in /proc/filesystems");
}

static bool is_missing_mkfs(const struct blame_case *k)
{
	return strstr(k->c->detail, "mkfs.ext4") && KNOB(k, "mkfs.ext4 is not installed or failed");
}

static bool is_file_system(const struct blame_case *k)
{
	return KNOB(k, "the file system of the state directory, which cannot do this");
}

static bool is_userns_clone(const struct blame_case *k)
{
	return lacks_cap(k->f) && k->f->unprivileged_userns_clone == 0 &&
	       KNOB(k, "kernel.unprivileged_userns_clone = 0");
}

/* Ubuntu lets the namespace be made and takes the rights in it away. */
static bool is_apparmor_restriction(const struct blame_case *k)
{
	return k->f->apparmor_restrict_userns == 1 && (lacks_cap(k->f) || !k->f->userns_initial) &&
	       KNOB(k, "kernel.apparmor_restrict_unprivileged_userns = 1");
}

static bool is_apparmor_profile(const struct blame_case *k)
{
	return k->f->apparmor[0] && KNOB(k, "the AppArmor profile of this process: %s", k->f->apparmor);
}

static bool is_selinux(const struct blame_case *k)
{
	return k->f->selinux && KNOB(k, "SELinux, which is enforcing");
}

static bool is_seccomp(const struct blame_case *k)
{
	return k->f->seccomp == 2 && KNOB(k, "a seccomp filter on this process, as container runtimes put it there");
}

struct rule {
	unsigned steps;
	int sys_errno;
	blame_fn is;
	const char *advice;
};

static const struct rule RULES[] = {
	{STEP(KERNEL), ANY_ERROR, is_old_kernel, "run Linux 6.1 or later, as Debian 12 has it"},
	{STEP(RIGHTS), ANY_ERROR, is_missing_root,
	 "run as root; in a container, give it the rights of the host's root (docker run --privileged)"},
	{STEP(NAMESPACE), ENOSPC, is_namespace_limit,
	 "raise it (sysctl -w), here and in every user namespace around: each session takes one of each kind"},
	{STEP(NAMESPACE), EINVAL, is_kernel_without, "run a distribution's kernel"},
	{STEP(PROC) | STEP(UNIT), EPERM, is_covered_proc,
	 "inside a container: docker run --security-opt systempaths=unconfined, podman run --security-opt unmask=ALL, "
	 "Kubernetes securityContext.procMount: Unmasked"},
	{STEP(CGROUP), ANY_ERROR, is_missing_cgroup2,
	 "mount -t cgroup2 none /sys/fs/cgroup/unified, or boot with cgroup v2"},
	{STEP(CGROUP), EROFS, is_read_only_cgroup2,
	 "mount it read-write; in a container: docker run --privileged --cgroupns=private"},
	{STEP(CGROUP), ANY_ERROR, is_cgroup_controllers,
	 "let systemd delegate them (Delegate=yes), or boot with all of cpu, memory and pids in one of v1 and v2"},
	{STEP(OVERLAY), ENODEV, is_missing_overlay, "modprobe overlay"},
	{STEP(DISK), ANY_ERROR, is_missing_mkfs, "apt-get install e2fsprogs"},
	{STEP(DISK), ANY_ERROR, is_missing_loop,
	 "modprobe loop; in a container, give it /dev/loop-control and the loop devices"},
	{STEP(DISK), ANY_ERROR, is_missing_ext4, "modprobe ext4"},
	{STEP(IDMAP) | STEP(OVERLAY), EINVAL, is_file_system,
	 "put --state-dir on ext4, xfs or btrfs; in a container, on a volume of its own"},
	{STEP(NAMESPACE), EPERM, is_userns_clone, "sysctl -w kernel.unprivileged_userns_clone=1, or run as root"},
	{REFUSABLE, EPERM, is_apparmor_restriction,
	 "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile that has `userns,`"},
	{REFUSABLE, EACCES, is_apparmor_restriction,
	 "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile that has `userns,`"},
	{REFUSABLE, EACCES, is_apparmor_profile, "in a container: docker run --security-opt apparmor=unconfined"},
	{REFUSABLE, EACCES, is_selinux, "in a container: --security-opt label=disable; else see ausearch -m avc"},
	{REFUSABLE, EPERM, is_seccomp, "in a container: docker run --security-opt seccomp=unconfined"},
	{REFUSABLE, ENOSYS, is_seccomp, "in a container: docker run --security-opt seccomp=unconfined"},
	{REFUSABLE, EPERM, is_apparmor_profile, "in a container: docker run --security-opt apparmor=unconfined"},
	{REFUSABLE, EPERM, is_missing_root,
	 "run as root; in a container, give it the rights of the host's root (docker run --privileged)"},
};

void doctor_blame(struct doctor_check *c, const struct doctor_facts *f, int sys_errno)
{
	const struct blame_case k = {c, f};

	for (size_t i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++) {
		const struct rule *r = &RULES[i];

		if (!(r->steps & (1u << c->step)) || (r->sys_errno != ANY_ERROR && r->sys_errno != sys_errno))
			continue;
		if (r->is(&k)) {
			snprintf(c->advice, sizeof(c->advice), "%s", r->advice);
			return;
		}
	}
}
