/* SPDX-License-Identifier: Apache-2.0
 *
 * overlay.c - overlays from detached mounts.
 *
 * Newer kernels (6.15) take the layers by descriptor. Older ones want paths in the caller's mount namespace: there
 * the layers are attached below RUN_DIR for as long as the mount call lasts; the overlay keeps copies of its own.
 *
 * Directories of a lower layer can be renamed (redirect_dir). Files are always copied whole when they change (no
 * metacopy): what is written is then complete without its lower layer.
 *
 * The overlay reads and writes its layers with the ids it was mounted with: those of the range's root, with
 * capabilities, because an id that the layers do not map may not even be used to make its work directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
#define PLACE_SIZE  32
#define OPTIONS_MAX (LOWERS_MAX + 4)

static bool by_path; /* this kernel wants paths */
static pthread_mutex_t attaching = PTHREAD_MUTEX_INITIALIZER;

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
		options[count++] = (struct inis_mount_option)INIS_OPT_TEXT("redirect_dir", "on");
	}
	return inis_mount_new("overlay", options, count, attrs, err);
}

static int detach(const char *path)
{
	/* umount2 of <sys/mount.h>, which <linux/mount.h> shuts out. */
	return (int)syscall(SYS_umount2, path, 2 /* MNT_DETACH */);
}

static int attach_layer(int mount, const char *path, struct inis_error *err)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return inis_fail_errno(err, "make %s", path);
	return inis_mount_attach(mount, AT_FDCWD, path, err);
}

/* Places of this thread: overlays are made on more than one. */
static void place(char path[static PLACE_SIZE], const char *what, unsigned number)
{
	snprintf(path, PLACE_SIZE, RUN_DIR "/%d%s%u", (int)gettid(), what, number);
}

static int from_places(unsigned n, bool writable, uint64_t attrs, struct inis_error *err)
{
	char lower[LOWERS_MAX * PLACE_SIZE] = "";
	char upper[PLACE_SIZE + 8];
	char work[PLACE_SIZE + 8];
	char path[PLACE_SIZE];
	struct inis_mount_option options[5];
	unsigned count = 0;
	size_t at = 0;

	for (unsigned i = 0; i < n; i++) {
		place(path, "l", i);
		at += (size_t)snprintf(lower + at, sizeof(lower) - at, "%s%s", i ? ":" : "", path);
	}
	options[count++] = (struct inis_mount_option)INIS_OPT_TEXT("lowerdir", lower);
	if (writable) {
		place(path, "w", 0);
		snprintf(upper, sizeof(upper), "%s/upper", path);
		snprintf(work, sizeof(work), "%s/work", path);
		options[count++] = (struct inis_mount_option)INIS_OPT_TEXT("upperdir", upper);
		options[count++] = (struct inis_mount_option)INIS_OPT_TEXT("workdir", work);
		options[count++] = (struct inis_mount_option)INIS_OPT_FLAG("volatile");
		options[count++] = (struct inis_mount_option)INIS_OPT_TEXT("redirect_dir", "on");
	}
	return inis_mount_new("overlay", options, count, attrs, err);
}

static int by_attaching(const int *lowers, unsigned n, const struct layer *layer, uint64_t attrs,
			struct inis_error *err)
{
	char path[PLACE_SIZE];
	unsigned attached = 0;
	bool writable = false;
	int mount = -1;

	for (; attached < n; attached++) {
		place(path, "l", attached);
		if (attach_layer(lowers[attached], path, err) < 0)
			break;
	}
	if (attached == n && layer) {
		place(path, "w", 0);
		writable = attach_layer(layer->mount, path, err) == 0;
	}
	if (attached == n && (!layer || writable))
		mount = from_places(n, writable, attrs, err);
	if (writable)
		detach(path);
	while (attached-- > 0) {
		place(path, "l", attached);
		detach(path);
	}
	return mount;
}

void overlay_hold(void)
{
	pthread_mutex_lock(&attaching);
}

void overlay_release(void)
{
	pthread_mutex_unlock(&attaching);
}

int overlay_mount(const int *lowers, unsigned n, const struct layer *layer, uint32_t uid_base, uint64_t attrs,
		  struct inis_error *err)
{
	int mount;

	if (n > LOWERS_MAX)
		return inis_fail(err, INIS_INTERNAL, "%u layers are too many", n);
	if (inis_fsid_enter(uid_base, err) < 0)
		return -1;
	if (by_path) {
		overlay_hold();
		mount = by_attaching(lowers, n, layer, attrs, err);
		overlay_release();
	} else {
		mount = by_descriptor(lowers, n, layer, attrs, err);
	}
	inis_fsid_restore();
	return mount;
}

void overlay_use_paths(bool paths)
{
	by_path = paths;
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
