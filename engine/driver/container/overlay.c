/* SPDX-License-Identifier: Apache-2.0
 *
 * overlay.c - overlays from detached mounts.
 *
 * Newer kernels (6.15) take the layers by descriptor. Older ones want paths in the caller's mount namespace: there
 * the layers are attached below RUN_DIR for as long as the mount call lasts; the overlay keeps copies of its own.
 *
 * The overlay reads and writes its layers with the ids it was mounted with: those of the range's root, with
 * capabilities, because an id that the layers do not map may not even be used to make its work directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "driver/container/internal.h"
#include "os/mount.h"
#include "os/path.h"
#include "os/priv.h"

#define LOWERS_MAX  8
#define OPTIONS_MAX (LOWERS_MAX + 4)

static bool by_path; /* this kernel wants paths */

struct layer_dirs {
	int upper;
	int work;
};

static void close_dirs(struct layer_dirs *dirs)
{
	close_fd(&dirs->upper);
	close_fd(&dirs->work);
}

static int by_descriptor(const int *lowers, unsigned n, const struct layer *layer, uint64_t attrs,
			 struct inis_error *err)
{
	__attribute__((cleanup(close_dirs))) struct layer_dirs dirs = {-1, -1};
	struct inis_mount_option options[OPTIONS_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		options[count++] = (struct inis_mount_option)INIS_OPT_FD("lowerdir+", lowers[i]);
	if (layer) {
		dirs.upper = openat(layer->mount, "upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		dirs.work = openat(layer->mount, "work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dirs.upper < 0 || dirs.work < 0)
			return inis_fail_errno(err, "open a writable layer");
		options[count++] = (struct inis_mount_option)INIS_OPT_FD("upperdir", dirs.upper);
		options[count++] = (struct inis_mount_option)INIS_OPT_FD("workdir", dirs.work);
		options[count++] = (struct inis_mount_option)INIS_OPT_FLAG("volatile");
	}
	return inis_mount_new("overlay", options, count, attrs, err);
}

static int detach(const char *path)
{
	/* umount2 of <sys/mount.h>, which <linux/mount.h> shuts out. */
	return (int)syscall(SYS_umount2, path, 2 /* MNT_DETACH */);
}

/* Attaches a copy of what the descriptor shows, so that the caller's mount stays detached where it can. */
static int attach_layer(int fd, const char *path, struct inis_error *err)
{
	cleanup_close int run = -1;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return inis_fail_errno(err, "make %s", path);
	run = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (run < 0)
		return inis_fail_errno(err, "open %s", path);
	return inis_mount_attach(fd, run, "", err);
}

static int from_paths(unsigned n, const struct layer *layer, uint64_t attrs, struct inis_error *err)
{
	char lower[LOWERS_MAX * 24] = "";
	struct inis_mount_option options[4];
	unsigned count = 0;
	size_t at = 0;

	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(lower + at, sizeof(lower) - at, "%s" RUN_DIR "/l%u", i ? ":" : "", i);
	options[count++] = (struct inis_mount_option)INIS_OPT_TEXT("lowerdir", lower);
	if (layer) {
		options[count++] = (struct inis_mount_option)INIS_OPT_TEXT("upperdir", RUN_DIR "/w/upper");
		options[count++] = (struct inis_mount_option)INIS_OPT_TEXT("workdir", RUN_DIR "/w/work");
		options[count++] = (struct inis_mount_option)INIS_OPT_FLAG("volatile");
	}
	return inis_mount_new("overlay", options, count, attrs, err);
}

static int by_attaching(const int *lowers, unsigned n, const struct layer *layer, uint64_t attrs,
			struct inis_error *err)
{
	char path[32];
	unsigned attached = 0;
	int mount = -1;
	bool writable = false;

	while (attached < n) {
		snprintf(path, sizeof(path), RUN_DIR "/l%u", attached);
		if (attach_layer(lowers[attached], path, err) < 0)
			break;
		attached++;
	}
	if (attached == n && layer)
		writable = attach_layer(layer->mount, RUN_DIR "/w", err) == 0;
	if (attached == n && (!layer || writable))
		mount = from_paths(n, layer, attrs, err);
	if (writable)
		detach(RUN_DIR "/w");
	while (attached-- > 0) {
		snprintf(path, sizeof(path), RUN_DIR "/l%u", attached);
		detach(path);
	}
	return mount;
}

int overlay_mount(const int *lowers, unsigned n, const struct layer *layer, uint32_t uid_base, uint64_t attrs,
		  struct inis_error *err)
{
	int mount;

	if (n > LOWERS_MAX)
		return inis_fail(err, INIS_INTERNAL, "%u layers are too many", n);
	if (inis_fsid_enter(uid_base, err) < 0)
		return -1;
	mount = by_path ? by_attaching(lowers, n, layer, attrs, err) : by_descriptor(lowers, n, layer, attrs, err);
	inis_fsid_restore();
	return mount;
}

int overlay_probe(int dir, const char *upper, const char *lower, uint32_t uid_base, struct inis_error *err)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		cleanup_close int a = inis_mount_clone(dir, upper, false, err);
		cleanup_close int b = a < 0 ? -1 : inis_mount_clone(dir, lower, false, err);
		cleanup_close int mount = -1;
		const int lowers[2] = {a, b};

		if (b < 0)
			return -1;
		by_path = attempt > 0;
		mount = overlay_mount(lowers, 2, NULL, uid_base, MOUNT_ATTR_RDONLY, err);
		if (mount >= 0)
			return 0;
	}
	return -1;
}
