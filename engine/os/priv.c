/* SPDX-License-Identifier: Apache-2.0
 *
 * priv.c - giving rights up.
 */
#include "os/priv.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int get_caps(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capget, &header, data);
}

static int set_caps(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capset, &header, data);
}

bool inis_has_cap(unsigned cap)
{
	struct __user_cap_data_struct data[2];

	return get_caps(data) == 0 && (data[cap / 32].effective & (1U << (cap % 32)));
}

int inis_bounding_keep(uint64_t keep, struct inis_error *err)
{
	for (unsigned cap = 0; cap < 64; cap++) {
		if (keep & (1ULL << cap))
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL)
			return inis_fail_errno(err, "drop capability %u", cap);
	}
	return 0;
}

int inis_drop_to(uid_t uid, gid_t gid, struct inis_error *err)
{
	struct __user_cap_data_struct none[2] = {0};

	if (inis_bounding_keep(0, err) < 0)
		return -1;
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return inis_fail_errno(err, "become uid %u", uid);
	if (set_caps(none) < 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return inis_fail_errno(err, "drop rights");
	return 0;
}

int inis_fsid_enter(uid_t id, struct inis_error *err)
{
	struct __user_cap_data_struct data[2];

	setfsgid(id);
	setfsuid(id);
	/* Leaving fsuid 0 took the file capabilities out of the effective set. */
	if (get_caps(data) == 0) {
		data[0].effective = data[0].permitted;
		data[1].effective = data[1].permitted;
		if (set_caps(data) == 0)
			return 0;
	}
	inis_fail_errno(err, "raise capabilities");
	inis_fsid_restore();
	return -1;
}

void inis_fsid_restore(void)
{
	setfsuid(0);
	setfsgid(0);
}
