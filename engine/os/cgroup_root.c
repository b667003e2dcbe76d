/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup_root.c - finding the hierarchies and making our subtree in them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "os/cgroup.h"
#include "os/fd.h"
#include "os/path.h"

#define SUBTREE "inis"

static const char *const controllers[INIS_V1_COUNT] = {"cpu", "memory", "pids"};

/* Whether a comma-separated list holds this word. */
static bool lists(const char *list, const char *word)
{
	size_t n = strlen(word);

	while (list) {
		if (strncmp(list, word, n) == 0 && (list[n] == ',' || list[n] == '\0'))
			return true;
		list = strchr(list, ',');
		if (list)
			list++;
	}
	return false;
}

/* One line: id parent dev root mountpoint options [tags…] - type source superoptions. */
static void parse_line(char *line, struct inis_cgroup_layout *out)
{
	char *tail = strstr(line, " - ");
	char root[PATH_MAX];
	char at[PATH_MAX];
	char type[32];
	char options[256];

	if (!tail || sscanf(line, "%*s %*s %*s %4095s %4095s", root, at) != 2 ||
	    sscanf(tail, " - %31s %*s %255s", type, options) != 2)
		return;
	if (strcmp(type, "cgroup2") == 0 && !out->v2[0])
		memcpy(out->v2, at, sizeof(at));
	if (strcmp(type, "cgroup") != 0)
		return;
	for (int i = 0; i < INIS_V1_COUNT; i++) {
		if (lists(options, controllers[i]) && !out->v1[i][0])
			memcpy(out->v1[i], at, sizeof(at));
	}
}

void inis_cgroup_layout_parse(const char *mountinfo, struct inis_cgroup_layout *out)
{
	memset(out, 0, sizeof(*out));
	while (*mountinfo) {
		size_t n = strcspn(mountinfo, "\n");
		char line[2 * PATH_MAX + 512];

		if (n < sizeof(line)) {
			memcpy(line, mountinfo, n);
			line[n] = '\0';
			parse_line(line, out);
		}
		mountinfo += n + (mountinfo[n] == '\n');
	}
}

static int read_layout(struct inis_cgroup_layout *out, struct inis_error *err)
{
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(4 << 20);
	cleanup_close int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	char *s;

	if (fd < 0)
		return inis_fail_errno(err, "open /proc/self/mountinfo");
	if (inis_read_all(fd, &text, err) < 0)
		return -1;
	s = inis_buf_cstr(&text);
	if (!s)
		return inis_fail(err, INIS_UNAVAILABLE, "no memory for /proc/self/mountinfo");
	inis_cgroup_layout_parse(s, out);
	return 0;
}

static bool v2_has(const char *v2, const char *controller)
{
	cleanup_close int dir = open(v2, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[256];

	if (dir < 0 || inis_read_at(dir, "cgroup.controllers", text, sizeof(text), NULL) < 0)
		return false;
	for (char *p = text; *p; p++) {
		if (*p == ' ' || *p == '\n')
			*p = ',';
	}
	return lists(text, controller);
}

/* Passes the controllers on to the children of dir. Members of the cgroup itself stand in the way (EBUSY). */
static int enable_controllers(int dir, const char *where, struct inis_error *err)
{
	if (inis_write_at(dir, "cgroup.subtree_control", "+cpu +memory +pids", NULL) == 0)
		return 0;
	if (errno == EBUSY) {
		cleanup_close int leaf = inis_make_dir_at(dir, SUBTREE ".daemon", 0755, err);

		if (leaf < 0 || inis_write_at(leaf, "cgroup.procs", "0", err) < 0)
			return -1;
		if (inis_write_at(dir, "cgroup.subtree_control", "+cpu +memory +pids", NULL) == 0)
			return 0;
	}
	return inis_fail_errno(err, "enable the cgroup controllers cpu, memory and pids below %s", where);
}

static int open_subtree(const char *mount, bool controllers_too, const char *instance, struct inis_error *err)
{
	cleanup_close int top = inis_open_dir(mount, err);
	cleanup_close int all = -1;
	cleanup_close int own = -1;

	if (top < 0)
		return -1;
	if (controllers_too && enable_controllers(top, mount, err) < 0)
		return -1;
	all = inis_make_dir_at(top, SUBTREE, 0755, err);
	if (all < 0 || (controllers_too && enable_controllers(all, SUBTREE, err) < 0))
		return -1;
	own = inis_make_dir_at(all, instance, 0755, err);
	if (own < 0 || (controllers_too && enable_controllers(own, instance, err) < 0))
		return -1;
	return take_fd(&own);
}

static int check_v2(int v2, struct inis_error *err)
{
	if (faccessat(v2, "cgroup.kill", F_OK, 0) < 0 || faccessat(v2, "cgroup.freeze", F_OK, 0) < 0)
		return inis_fail_errno(err, "cgroup v2 without cgroup.kill (Linux 5.14 or later is needed)");
	return 0;
}

int inis_cgroup_root_open(struct inis_cgroup_root *root, const char *instance, struct inis_error *err)
{
	struct inis_cgroup_layout layout = {0};

	*root = (struct inis_cgroup_root){.v2 = -1, .v1 = {-1, -1, -1}};
	if (read_layout(&layout, err) < 0)
		return -1;
	if (!layout.v2[0])
		return inis_fail(err, INIS_UNAVAILABLE, "no cgroup v2 hierarchy is mounted");
	root->limits_v2 = v2_has(layout.v2, "memory") && v2_has(layout.v2, "cpu") && v2_has(layout.v2, "pids");
	root->v2 = open_subtree(layout.v2, root->limits_v2, instance, err);
	if (root->v2 < 0 || check_v2(root->v2, err) < 0)
		return -1;
	for (int i = 0; i < INIS_V1_COUNT && !root->limits_v2; i++) {
		if (!layout.v1[i][0])
			return inis_fail(err, INIS_UNAVAILABLE, "no cgroup controller %s is mounted", controllers[i]);
		root->v1[i] = open_subtree(layout.v1[i], false, instance, err);
		if (root->v1[i] < 0)
			return -1;
	}
	if (!root->limits_v2)
		root->swap_v1 = faccessat(root->v1[INIS_V1_MEMORY], "memory.memsw.limit_in_bytes", F_OK, 0) == 0;
	return 0;
}

static void leave(int *dir)
{
	char link[64];
	char path[PATH_MAX];
	ssize_t n;

	if (*dir < 0)
		return;
	/* rmdir needs the name; what is not empty stays. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", *dir);
	n = readlink(link, path, sizeof(path) - 1);
	close_fd(dir);
	if (n <= 0)
		return;
	path[n] = '\0';
	if (rmdir(path) == 0) {
		*strrchr(path, '/') = '\0';
		rmdir(path);
	}
}

void inis_cgroup_root_close(struct inis_cgroup_root *root)
{
	leave(&root->v2);
	for (int i = 0; i < INIS_V1_COUNT; i++)
		leave(&root->v1[i]);
}
