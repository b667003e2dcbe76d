/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup.c - leaf cgroups.
 */
#include "agent/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/list.h"
#include "base/cleanup.h"
#include "os/mount.h"

#define NAME_SIZE 24

static int root = -1;
static int oom_counter = -1;
static uint64_t last_number;

/* Leaves whose command has ended; what it left behind may live on. */
static struct list lingering = LIST_INIT(lingering);

static void leaf_name(uint64_t number, char name[static NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "e%" PRIu64, number);
}

static int remove_leaf(uint64_t number)
{
	char name[NAME_SIZE];

	leaf_name(number, name);
	return unlinkat(root, name, AT_REMOVEDIR);
}

int cgroup_open(struct inis_error *err)
{
	struct leaf probe = LEAF_INIT;

	root = inis_mount_new("cgroup2", NULL, 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, err);
	if (root < 0 || leaf_make(&probe, err) < 0)
		return -1;
	leaf_release(&probe);
	return 0;
}

/* One read of a small file. */
static ssize_t read_text(int dir, const char *name, char *buf, size_t size)
{
	cleanup_close int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = '\0';
	return n;
}

static void write_text(int dir, const char *name, const char *text)
{
	cleanup_close int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	/* Fails only when the leaf is gone, and then there is nothing left to act on. */
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		return;
}

/* The number after `key` at the start of a line of text; 0 when there is no such line. */
static uint64_t line_value(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0)
			return strtoull(line + n, NULL, 10);
		if (*line == '\0')
			break;
	}
	return 0;
}

void cgroup_set_oom_counter(int fd)
{
	oom_counter = fd;
}

/* From a file of such lines that is kept open. */
static uint64_t counter(int fd, const char *key)
{
	char text[512];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return line_value(text, key);
}

uint64_t cgroup_oom_kills(void)
{
	return oom_counter < 0 ? 0 : counter(oom_counter, "oom_kill ");
}

int leaf_make(struct leaf *leaf, struct inis_error *err)
{
	char name[NAME_SIZE];

	leaf->number = ++last_number;
	leaf_name(leaf->number, name);
	if (mkdirat(root, name, 0755) < 0) {
		leaf->number = 0;
		return inis_fail_errno(err, "make a cgroup");
	}
	leaf->fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (leaf->fd < 0) {
		inis_fail_errno(err, "open a cgroup");
		remove_leaf(leaf->number);
		leaf->number = 0;
		return -1;
	}
	leaf->cpu = openat(leaf->fd, "cpu.stat", O_RDONLY | O_CLOEXEC);
	return 0;
}

bool leaf_populated(const struct leaf *leaf)
{
	char text[128];

	return leaf->fd >= 0 && read_text(leaf->fd, "cgroup.events", text, sizeof(text)) > 0 &&
	       line_value(text, "populated ") != 0;
}

void leaf_signal(const struct leaf *leaf, int signal)
{
	cleanup_close int fd = openat(leaf->fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	cleanup_file FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	int pid;

	if (!file)
		return;
	take_fd(&fd);
	while (fscanf(file, "%d", &pid) == 1) {
		/* 0 is a process of another pid namespace. */
		if (pid > 1)
			kill(pid, signal);
	}
}

void leaf_kill(const struct leaf *leaf)
{
	write_text(leaf->fd, "cgroup.kill", "1");
}

uint64_t leaf_cpu_us(const struct leaf *leaf)
{
	return leaf->cpu < 0 ? 0 : counter(leaf->cpu, "usage_usec ");
}

struct remnant {
	struct list node;
	uint64_t number;
};

void leaf_release(struct leaf *leaf)
{
	struct remnant *r = leaf->number == 0 ? NULL : malloc(sizeof(*r));

	close_fd(&leaf->fd);
	close_fd(&leaf->cpu);
	if (r) {
		r->number = leaf->number;
		list_append(&lingering, &r->node);
	} else if (leaf->number != 0) {
		/* If something lives there, the directory stays until the unit ends: it costs a few kilobytes. */
		remove_leaf(leaf->number);
	}
	leaf->number = 0;
}

void cgroup_sweep(void)
{
	list_each (at, &lingering) {
		struct remnant *r = container_of(at, struct remnant, node);

		if (remove_leaf(r->number) < 0 && errno == EBUSY)
			continue;
		list_remove(at);
		free(r);
	}
}
