/* SPDX-License-Identifier: Apache-2.0
 *
 * rights.c - giving rights up in stages.
 */
#include "agent/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent_seccomp.h"
#include "base/wall.h"
#include "os/priv.h"
#include "wire/unit_proto.h"

#define BIT(cap_) (1ULL << (cap_))

/* Open files of one process of the guest's: more than programs open, and not all that the machine has. */
#define FILES_MAX 16384

/*
 * What root inside the guest (sudo, package managers) can ever have. Missing on purpose: SYS_ADMIN, SYS_PTRACE,
 * NET_ADMIN, NET_RAW, MKNOD, SYS_TIME, SYS_MODULE and all that reach beyond the unit.
 */
#define GUEST_CAPS                                                                                             \
	(BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) | BIT(CAP_FSETID) | BIT(CAP_KILL) |          \
	 BIT(CAP_SETGID) | BIT(CAP_SETUID) | BIT(CAP_SETPCAP) | BIT(CAP_SETFCAP) | BIT(CAP_NET_BIND_SERVICE) | \
	 BIT(CAP_SYS_CHROOT) | BIT(CAP_AUDIT_WRITE))

/*
 * The agent: SYS_ADMIN to load filters into children and to mount cgroup2 again after a restore, the ids for
 * becoming the guest user, KILL for signals to any uid.
 */
#define AGENT_CAPS (BIT(CAP_SYS_ADMIN) | BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_SETPCAP) | BIT(CAP_KILL))

/* Once more: the pipes that wait for the first command become the guest user's. */
#define BLANK_CAPS (AGENT_CAPS | BIT(CAP_CHOWN))

const struct sock_fprog guest_filter = {
	.len = sizeof(SECCOMP_GUEST) / sizeof(SECCOMP_GUEST[0]),
	.filter = (struct sock_filter *)SECCOMP_GUEST,
};

const struct sock_fprog base_filter = {
	.len = sizeof(SECCOMP_BASE) / sizeof(SECCOMP_BASE[0]),
	.filter = (struct sock_filter *)SECCOMP_BASE,
};

static void reset_signals(void)
{
	const struct kernel_sigaction dfl = {0}; /* SIG_DFL; by the library a guest would inherit two ignored ones */
	sigset_t all;

	for (int s = 1; s < NSIG; s++)
		syscall(SYS_rt_sigaction, s, &dfl, NULL, sizeof(dfl.mask));
	/* Blocked, not ignored: children inherit what is ignored, and a write to a closed pipe must only say EPIPE. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

static void set_limits(void)
{
	struct rlimit nofile, no_core = {0, 0};

	if (WALL("limit.core"))
		setrlimit(RLIMIT_CORE, &no_core);
	if (getrlimit(RLIMIT_NOFILE, &agent.nofile) < 0)
		return;
	if (WALL("limit.files") && agent.nofile.rlim_max > FILES_MAX)
		agent.nofile.rlim_max = FILES_MAX;
	if (agent.nofile.rlim_cur > agent.nofile.rlim_max)
		agent.nofile.rlim_cur = agent.nofile.rlim_max;
	nofile = agent.nofile;
	nofile.rlim_cur = nofile.rlim_max;
	setrlimit(RLIMIT_NOFILE, &nofile);
}

void rights_begin(void)
{
	reset_signals();
	set_limits();
	umask(022);
	if (WALL("agent.dumpable"))
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (WALL("fds.agent"))
		syscall(SYS_close_range, INIS_UNIT_FD + 1, ~0U, 0);
}

static int keep_caps(uint64_t caps, struct inis_error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
		{.effective = (uint32_t)caps, .permitted = (uint32_t)caps},
		{.effective = (uint32_t)(caps >> 32), .permitted = (uint32_t)(caps >> 32)},
	};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &header, data) < 0)
		return inis_fail_errno(err, "drop capabilities");
	return 0;
}

int rights_be_blank(struct inis_error *err)
{
	if ((WALL("caps.bounding") && inis_bounding_keep(GUEST_CAPS, err) < 0) ||
	    (WALL("caps.agent") && keep_caps(BLANK_CAPS, err) < 0))
		return -1;
	return 0;
}

int rights_drop(bool no_sudo, struct inis_error *err)
{
	if (WALL("caps.agent") && keep_caps(AGENT_CAPS, err) < 0)
		return -1;
	agent.no_new_privs = no_sudo && WALL("no-sudo.no-new-privs");
	if (agent.no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return inis_fail_errno(err, "set no_new_privs");
	if (WALL("seccomp.base") && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &base_filter) < 0)
		return inis_fail_errno(err, "load the system call filter");
	agent.filtered = true;
	return 0;
}
