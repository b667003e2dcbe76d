/* SPDX-License-Identifier: Apache-2.0
 *
 * traces.c - what units of one instance leave on the machine, counted from outside.
 */
#include "traces.h"

#include <ctype.h>
#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define PATIENCE_MS 60000

static const char *wanted_instance;
static unsigned found;

static int count_group(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_D && strstr(path, wanted_instance) &&
	    !strstr(path + strlen(path) - strlen(wanted_instance), wanted_instance))
		found++;
	return 0;
}

static int count_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path;
	(void)st;
	(void)type;
	found += ftw->level > 0;
	return 0;
}

static unsigned count_loops(const char *instance)
{
	cleanup_dir DIR *blocks = opendir("/sys/block");
	struct dirent *e;
	unsigned n = 0;

	while (blocks && (e = readdir(blocks))) {
		char path[300];
		char text[PATH_MAX];
		cleanup_file FILE *f = NULL;

		snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", e->d_name);
		f = fopen(path, "re");
		if (f && fgets(text, sizeof(text), f) && strstr(text, instance))
			n++;
	}
	return n;
}

/* By their groups: from its first moment a process of a unit is in the unit's, whatever uid it has yet. */
static unsigned count_processes(const char *instance)
{
	cleanup_dir DIR *proc = opendir("/proc");
	struct dirent *e;
	unsigned n = 0;

	while (proc && (e = readdir(proc))) {
		char path[300];
		char line[512];
		cleanup_file FILE *f = NULL;
		bool ours = false;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/cgroup", e->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			ours = ours || strstr(line, instance);
		n += ours;
	}
	return n;
}

static unsigned count_mounts(void)
{
	cleanup_file FILE *f = fopen("/proc/self/mounts", "re");
	char line[4096];
	unsigned n = 0;

	while (f && fgets(line, sizeof(line), f))
		n++;
	return n;
}

struct traces traces_count(const char *state_dir, const char *instance)
{
	struct traces t = {.processes = count_processes(instance), .mounts = count_mounts()};
	char units[300];

	wanted_instance = instance;
	found = 0;
	nftw("/sys/fs/cgroup", count_group, 32, FTW_PHYS);
	t.cgroups = found;
	found = 0;
	snprintf(units, sizeof(units), "%s/units", state_dir);
	nftw(units, count_entry, 32, FTW_PHYS);
	t.files = found;
	t.loops = count_loops(state_dir);
	return t;
}

struct traces traces_await_disks(const char *state_dir, const char *instance, unsigned disks)
{
	for (int i = 0; i < PATIENCE_MS / 10 && count_loops(state_dir) != disks; i++)
		usleep(10000);
	return traces_count(state_dir, instance);
}
