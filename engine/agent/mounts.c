/* SPDX-License-Identifier: Apache-2.0
 *
 * mounts.c - the guest's view of the file system.
 *
 * Order matters. The kernel's file systems are made while the old root is still there, ahead of any session: a new
 * procfs needs a visible one to exist. They are attached after the pivot, so that no symbolic link of the image can
 * lead out of it.
 */
#include "agent/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/wall.h"
#include "os/mount.h"

#define DETACH 2 /* MNT_DETACH; <sys/mount.h> and <linux/mount.h> cannot be had together */

#define LOCKED_DOWN (WALL("mounts.locked-down") ? MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC : 0)

/* Read as empty, written into nothing. */
static const char *const HIDDEN_FILES[] = {
	"/proc/kcore",         "/proc/kmsg",         "/proc/kallsyms",    "/proc/keys",          "/proc/key-users",
	"/proc/timer_list",    "/proc/timer_stats",  "/proc/sched_debug", "/proc/latency_stats", "/proc/config.gz",
	"/proc/sysrq-trigger", "/proc/kpagecount",   "/proc/kpageflags",  "/proc/kpagecgroup",   "/proc/slabinfo",
	"/proc/vmallocinfo",   "/proc/pagetypeinfo",
};
static const char *const HIDDEN_DIRECTORIES[] = {"/proc/acpi", "/proc/scsi", "/proc/asound"};
static const char *const READ_ONLY[] = {"/proc/sys", "/proc/bus", "/proc/fs", "/proc/irq"};

#define COUNT(list_) (sizeof(list_) / sizeof((list_)[0]))

/* Made while the unit is blank; proc with all that hides parts of it. */
static struct {
	int proc, pts, shm, mqueue;
} kernel = {-1, -1, -1, -1};

/* Without a namespace of the unit's own, in tests only, there is nothing to mount: the old /proc stands in. */
static int kernel_mount(const char *type, bool own, struct inis_error *err)
{
	return own ? inis_mount_new(type, NULL, 0, LOCKED_DOWN, err) : inis_mount_clone(AT_FDCWD, "/proc", true, err);
}

static int make_kernel_mounts(struct inis_error *err)
{
	const struct inis_mount_option pts[] = {INIS_OPT_FLAG("newinstance"), INIS_OPT_TEXT("ptmxmode", "0666"),
						INIS_OPT_TEXT("mode", "0620"), INIS_OPT_TEXT("gid", "5")};
	const struct inis_mount_option shm[] = {INIS_OPT_TEXT("mode", "1777")};

	kernel.pts = inis_mount_new("devpts", pts, COUNT(pts), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, err);
	if (kernel.pts < 0)
		return -1;
	kernel.shm = inis_mount_new("tmpfs", shm, COUNT(shm), LOCKED_DOWN, err);
	if (kernel.shm < 0)
		return -1;
	kernel.mqueue = kernel_mount("mqueue", WALL("ns.ipc"), err);
	return kernel.mqueue < 0 ? -1 : 0;
}

/* The new root is put over the old one and entered by descriptor; the old one then lies on it, out of every path. */
static int pivot(int root, struct inis_error *err)
{
	if (inis_mount_attach(root, AT_FDCWD, "/", err) < 0)
		return -1;
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return inis_fail_errno(err, "pivot_root");
	return 0;
}

static int attach(int mount, const char *target, struct inis_error *err)
{
	return inis_mount_attach(mount, AT_FDCWD, target, err);
}

static int attach_all(const struct given_mount *given, unsigned n, struct inis_error *err)
{
	for (unsigned i = 0; i < n; i++) {
		if (attach(given[i].fd, given[i].target, err) < 0)
			return -1;
	}
	if (attach(kernel.proc, "/proc", err) < 0 || attach(kernel.pts, "/dev/pts", err) < 0 ||
	    attach(kernel.shm, "/dev/shm", err) < 0 || attach(kernel.mqueue, "/dev/mqueue", err) < 0)
		return -1;
	return 0;
}

static int exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static int cover_with(const char *source, const char *path, struct inis_error *err)
{
	cleanup_close int clone = inis_mount_clone(AT_FDCWD, source, false, err);

	/* The machine's own device, which no flag of its mount would lock down. */
	if (clone < 0 ||
	    inis_mount_attrs(clone, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, 0, -1, false, err) < 0)
		return -1;
	return attach(clone, path, err);
}

static int make_read_only(const char *path, struct inis_error *err)
{
	cleanup_close int clone = inis_mount_clone(AT_FDCWD, path, false, err);

	if (clone < 0 || inis_mount_attrs(clone, LOCKED_DOWN | MOUNT_ATTR_RDONLY, 0, -1, false, err) < 0)
		return -1;
	return attach(clone, path, err);
}

static int hide_directory(const char *path, struct inis_error *err)
{
	cleanup_close int empty = inis_mount_new("tmpfs", NULL, 0, LOCKED_DOWN | MOUNT_ATTR_RDONLY, err);

	return empty < 0 ? -1 : attach(empty, path, err);
}

/* Which of them exist depends on the kernel; all are refused to a user namespace in other ways too. */
static int restrict_proc(struct inis_error *err)
{
	for (unsigned i = 0; WALL("proc.hidden") && i < COUNT(HIDDEN_FILES); i++) {
		if (exists(HIDDEN_FILES[i]) && cover_with("/dev/null", HIDDEN_FILES[i], err) < 0)
			return -1;
	}
	for (unsigned i = 0; WALL("proc.hidden") && i < COUNT(HIDDEN_DIRECTORIES); i++) {
		if (exists(HIDDEN_DIRECTORIES[i]) && hide_directory(HIDDEN_DIRECTORIES[i], err) < 0)
			return -1;
	}
	for (unsigned i = 0; WALL("proc.read-only") && i < COUNT(READ_ONLY); i++) {
		if (exists(READ_ONLY[i]) && make_read_only(READ_ONLY[i], err) < 0)
			return -1;
	}
	return 0;
}

/* Put together at its place in the old root, then taken along with everything on it. */
static int make_proc(struct inis_error *err)
{
	cleanup_close int bare = kernel_mount("proc", WALL("ns.pid"), err);

	if (bare < 0 || attach(bare, "/proc", err) < 0 || restrict_proc(err) < 0)
		return -1;
	kernel.proc = inis_mount_clone(AT_FDCWD, "/proc", true, err);
	return kernel.proc < 0 ? -1 : 0;
}

int mounts_prepare(struct inis_error *err)
{
	/* Not private: a blank unit may wait for long, and what the machine unmounts meanwhile must not stay mounted. */
	if (syscall(SYS_mount, NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0)
		return inis_fail_errno(err, "keep mounts from the machine");
	return make_proc(err) < 0 ? -1 : make_kernel_mounts(err);
}

/* The tmpfs was made before its size was known. */
static int size_shm(uint32_t shm_mb, struct inis_error *err)
{
	char size[24];
	const struct inis_mount_option option = INIS_OPT_TEXT("size", size);

	snprintf(size, sizeof(size), "%um", shm_mb);
	return inis_mount_reconfigure(kernel.shm, &option, 1, err);
}

int mounts_enter(int root, const struct given_mount *given, unsigned n, uint32_t shm_mb, struct inis_error *err)
{
	if (size_shm(shm_mb, err) < 0 || pivot(root, err) < 0 || attach_all(given, n, err) < 0)
		return -1;
	close_fd(&kernel.proc);
	close_fd(&kernel.pts);
	close_fd(&kernel.shm);
	close_fd(&kernel.mqueue);
	return 0;
}

int mounts_leave_old_root(struct inis_error *err)
{
	if ((WALL("mounts.old-root") && syscall(SYS_umount2, ".", DETACH) < 0) || chdir("/") < 0)
		return inis_fail_errno(err, "leave the old root");
	return 0;
}
