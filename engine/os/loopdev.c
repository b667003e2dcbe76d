/* SPDX-License-Identifier: Apache-2.0
 *
 * loopdev.c - loop devices.
 *
 * The label is the kernel's lo_file_name: free text of 63 bytes that outlives renames of the image, so it tells
 * whose device it is.
 */
#include "os/loopdev.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"

#define ATTEMPTS 64

static int configure(int device, int image, const char *label)
{
	struct loop_config config = {.fd = (unsigned)image, .block_size = 4096, .info.lo_flags = LO_FLAGS_AUTOCLEAR};

	snprintf((char *)config.info.lo_file_name, LO_NAME_SIZE, "%s", label);
	return ioctl(device, LOOP_CONFIGURE, &config);
}

int inis_loop_attach(int image, const char *label, char path[static INIS_LOOP_PATH_SIZE], int *number,
		     struct inis_error *err)
{
	cleanup_close int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	if (control < 0)
		return inis_fail_errno(err, "open /dev/loop-control");
	/* Between asking for a free device and taking it another program may be faster. */
	for (int i = 0; i < ATTEMPTS; i++) {
		cleanup_close int device = -1;

		*number = ioctl(control, LOOP_CTL_GET_FREE);
		if (*number < 0)
			return inis_fail_errno(err, "find a free loop device");
		snprintf(path, INIS_LOOP_PATH_SIZE, "/dev/loop%d", *number);
		device = open(path, O_RDWR | O_CLOEXEC);
		if (device < 0)
			return inis_fail_errno(err, "open %s", path);
		if (configure(device, image, label) == 0)
			return take_fd(&device);
		if (errno != EBUSY)
			return inis_fail_errno(err, "attach %s", path);
	}
	return inis_fail(err, INIS_UNAVAILABLE, "no loop device could be had");
}

void inis_loop_direct(int number)
{
	cleanup_close int device = -1;
	char path[INIS_LOOP_PATH_SIZE];

	snprintf(path, sizeof(path), "/dev/loop%d", number);
	device = open(path, O_RDWR | O_CLOEXEC);
	if (device >= 0)
		ioctl(device, LOOP_SET_DIRECT_IO, 1);
}

static bool read_label(int number, char label[static LO_NAME_SIZE], int *device)
{
	struct loop_info64 info;
	char path[INIS_LOOP_PATH_SIZE];

	snprintf(path, sizeof(path), "/dev/loop%d", number);
	*device = open(path, O_RDONLY | O_CLOEXEC);
	if (*device < 0 || ioctl(*device, LOOP_GET_STATUS64, &info) < 0)
		return false;
	memcpy(label, info.lo_file_name, LO_NAME_SIZE);
	label[LO_NAME_SIZE - 1] = '\0';
	return true;
}

int inis_loop_hold(int number, const char *label)
{
	cleanup_close int device = -1;
	char found[LO_NAME_SIZE];

	if (read_label(number, found, &device) && strncmp(found, label, LO_NAME_SIZE - 1) == 0)
		return take_fd(&device);
	return -1;
}

bool inis_loop_attached(int number, const char *label)
{
	cleanup_close int device = inis_loop_hold(number, label);

	return device >= 0;
}

void inis_loop_detach_stray(const char *prefix, bool (*keep)(void *ctx, const char *label), void *ctx)
{
	cleanup_dir DIR *blocks = opendir("/sys/block");
	struct dirent *e;

	while (blocks && (e = readdir(blocks))) {
		cleanup_close int device = -1;
		char label[LO_NAME_SIZE];

		if (strncmp(e->d_name, "loop", 4) != 0)
			continue;
		if (read_label(atoi(e->d_name + 4), label, &device) && strncmp(label, prefix, strlen(prefix)) == 0 &&
		    !keep(ctx, label))
			ioctl(device, LOOP_CLR_FD, 0);
	}
}
