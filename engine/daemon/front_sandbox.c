/* SPDX-License-Identifier: Apache-2.0
 *
 * front_sandbox.c - the system calls the front gives up.
 *
 * A list of what is denied, not of what is allowed: the C library and libuv choose their calls by version, and the
 * front's uid has no rights anyway. What is denied here is what turns a bug into a foothold.
 */
#include "daemon/front_sandbox.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/socket.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>

static int loaded;

/* The search for leaks at a program's end forks, which the filter does not let it. */
int __lsan_is_turned_off(void)
{
	return loaded;
}
#define MARK_LOADED() (loaded = 1)
#else
#define MARK_LOADED() ((void)0)
#endif

static const int denied[] = {
	/* programs and processes; clone is below */
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(fork),
	SCMP_SYS(vfork),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(kcmp),
	SCMP_SYS(personality),
	/* mounts and namespaces */
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(pivot_root),
	SCMP_SYS(chroot),
	SCMP_SYS(fsopen),
	SCMP_SYS(fspick),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_tree),
	SCMP_SYS(mount_setattr),
	SCMP_SYS(setns),
	SCMP_SYS(unshare),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(name_to_handle_at),
	/* corners of the kernel */
	SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
	SCMP_SYS(keyctl),
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(reboot),
	SCMP_SYS(swapon),
	SCMP_SYS(swapoff),
	SCMP_SYS(acct),
	SCMP_SYS(quotactl),
	SCMP_SYS(fanotify_init),
	SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime),
	SCMP_SYS(clock_adjtime),
	SCMP_SYS(adjtimex),
};

static int add_rules(scmp_filter_ctx ctx)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]) && rc == 0; i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), denied[i], 0);
	/* Threads only. The flags of clone3 are out of a filter's reach: without it, libraries use clone. */
	if (rc == 0)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
	if (rc == 0)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	/* AF_UNIX is 1, AF_INET 2, AF_INET6 10. */
	if (rc == 0)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
				      SCMP_A0(SCMP_CMP_GT, AF_INET6, 0));
	for (unsigned family = AF_INET + 1; family < AF_INET6 && rc == 0; family++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
				      SCMP_A0(SCMP_CMP_EQ, family, 0));
	return rc;
}

int inis_front_sandbox(struct inis_error *err)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int rc = ctx ? seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;

	if (rc == 0)
		rc = add_rules(ctx);
	if (rc == 0)
		rc = seccomp_load(ctx);
	if (ctx)
		seccomp_release(ctx);
	if (rc == 0)
		MARK_LOADED();
	errno = -rc;
	return rc == 0 ? 0 : inis_fail_errno(err, "load the system call filter of the front");
}
