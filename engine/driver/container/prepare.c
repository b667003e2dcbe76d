/* SPDX-License-Identifier: Apache-2.0
 *
 * prepare.c - what all units share: the agent's program, /dev, the base, the empty disks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/wall.h"
#include "driver/container/internal.h"
#include "os/mount.h"
#include "os/path.h"

static int make_run_dir(struct inis_error *err)
{
	if (mkdir(RUN_DIR, 0755) < 0 && errno != EEXIST)
		return inis_fail_errno(err, "make " RUN_DIR);
	return 0;
}

/* The mount keeps the program as it is now, even if the file is replaced while units run it. */
static int bind_agent(const char *program, struct inis_error *err)
{
	cleanup_close int mount = inis_mount_clone(AT_FDCWD, program, false, err);
	cleanup_close int target = -1;

	if (mount < 0)
		return -1;
	if (faccessat(AT_FDCWD, program, X_OK, AT_EACCESS) < 0)
		return inis_fail_errno(err, "run the agent %s", program);
	target = open(RUN_AGENT, O_RDONLY | O_CREAT | O_CLOEXEC, 0444);
	if (target < 0)
		return inis_fail_errno(err, "make " RUN_AGENT);
	if (WALL("agent.read-only") &&
	    inis_mount_attrs(mount, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, -1, false, err) < 0)
		return -1;
	return inis_mount_attach(mount, AT_FDCWD, RUN_AGENT, err);
}

struct node {
	const char *name;
	unsigned minor_number; /* of major 1, but for tty */
};

static int make_node(int dir, const char *name, unsigned major_number, unsigned minor_number, struct inis_error *err)
{
	if (mknodat(dir, name, S_IFCHR | 0666, makedev(major_number, minor_number)) < 0 ||
	    fchmodat(dir, name, 0666, 0) < 0)
		return inis_fail_errno(err, "make the device node %s", name);
	return 0;
}

static int fill_dev(int dir, struct inis_error *err)
{
	static const struct node nodes[] = {{"null", 3}, {"zero", 5}, {"full", 7}, {"random", 8}, {"urandom", 9}};
	static const char *const links[][2] = {{"/proc/self/fd", "fd"},
					       {"/proc/self/fd/0", "stdin"},
					       {"/proc/self/fd/1", "stdout"},
					       {"/proc/self/fd/2", "stderr"},
					       {"pts/ptmx", "ptmx"}};
	static const char *const dirs[] = {"pts", "shm", "mqueue"};

	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		if (make_node(dir, nodes[i].name, 1, nodes[i].minor_number, err) < 0)
			return -1;
	}
	if (make_node(dir, "tty", 5, 0, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (symlinkat(links[i][0], dir, links[i][1]) < 0)
			return inis_fail_errno(err, "make /dev/%s", links[i][1]);
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		cleanup_close int made = inis_make_dir_at(dir, dirs[i], 0755, err);

		if (made < 0)
			return -1;
	}
	return 0;
}

/* One for all units, its ids not mapped: to every guest it belongs to nobody, and stays so whatever it does. */
static int make_dev(struct inis_error *err)
{
	const struct inis_mount_option options[] = {INIS_OPT_TEXT("mode", "755"), INIS_OPT_TEXT("size", "64k")};
	cleanup_close int mount = inis_mount_new("tmpfs", options, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, err);

	if (mount < 0 || fill_dev(mount, err) < 0 ||
	    (WALL("dev.read-only") && inis_mount_attrs(mount, MOUNT_ATTR_RDONLY, 0, -1, false, err) < 0))
		return -1;
	if (mkdir(RUN_DEV, 0755) < 0 && errno != EEXIST)
		return inis_fail_errno(err, "make " RUN_DEV);
	return inis_mount_attach(mount, AT_FDCWD, RUN_DEV, err);
}

int container_prepare(struct container *c, struct inis_error *err)
{
	struct inis_error soft = INIS_ERROR_INIT;

	if (make_run_dir(err) < 0 || bind_agent(c->config.agent, err) < 0 || make_dev(err) < 0 ||
	    bases_open(c, err) < 0 ||
	    overlay_probe(base_find(c, "host")->dir, "mask", "root", c->config.uid_base, err) < 0 ||
	    disks_init(&c->disks, c->templates_dir, c->config.disk_mb, &soft, err) < 0)
		return -1;
	c->driver.disk_kind = c->disks.kind;
	if (c->disks.kind == INIS_DISK_SOFT)
		inis_log(INIS_LOG_WARN, "disk sizes are not enforced", "reason", soft.message, NULL);
	return 0;
}
