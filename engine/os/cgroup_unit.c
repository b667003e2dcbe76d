/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup_unit.c - the groups of one unit.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/cgroup.h"
#include "os/path.h"

#define CPU_PERIOD_US 100000u

/* dir/unit/file <- number or text */
static int put(int dir, const char *unit, const char *file, const char *text, struct inis_error *err)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", unit, file);
	return inis_write_at(dir, path, text, err);
}

static int put_number(int dir, const char *unit, const char *file, uint64_t value, struct inis_error *err)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return put(dir, unit, file, text, err);
}

static bool get(int dir, const char *unit, const char *file, char *buf, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", unit, file);
	return inis_read_at(dir, path, buf, size, NULL) >= 0;
}

static uint64_t get_number(int dir, const char *unit, const char *file)
{
	char buf[64];

	return get(dir, unit, file, buf, sizeof(buf)) ? strtoull(buf, NULL, 10) : 0;
}

bool inis_cgroup_field(const char *text, const char *key, uint64_t *value)
{
	size_t n = strlen(key);

	while (text) {
		if (strncmp(text, key, n) == 0 && text[n] == ' ') {
			*value = strtoull(text + n + 1, NULL, 10);
			return true;
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return false;
}

static int make_in(int dir, const char *unit, struct inis_error *err)
{
	if (mkdirat(dir, unit, 0755) < 0 && errno != EEXIST)
		return inis_fail_errno(err, "make cgroup %s", unit);
	return 0;
}

int inis_cgroup_make(const struct inis_cgroup_root *root, const char *unit, struct inis_error *err)
{
	int rc = make_in(root->v2, unit, err);

	for (int i = 0; i < INIS_V1_COUNT && rc == 0 && !root->limits_v2; i++)
		rc = make_in(root->v1[i], unit, err);
	if (rc < 0)
		inis_cgroup_remove(root, unit);
	return rc;
}

int inis_cgroup_open(const struct inis_cgroup_root *root, const char *unit, struct inis_error *err)
{
	int fd = openat(root->v2, unit, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		inis_fail_errno(err, "open cgroup %s", unit);
	return fd;
}

int inis_cgroup_delegate(int v2, uid_t uid, struct inis_error *err)
{
	if (fchown(v2, uid, uid) < 0 || fchownat(v2, "cgroup.procs", uid, uid, 0) < 0)
		return inis_fail_errno(err, "hand a cgroup over");
	return 0;
}

int inis_cgroup_attach_v1(const struct inis_cgroup_root *root, const char *unit, pid_t pid, struct inis_error *err)
{
	for (int i = 0; i < INIS_V1_COUNT && !root->limits_v2; i++) {
		if (put_number(root->v1[i], unit, "cgroup.procs", (uint64_t)pid, err) < 0)
			return -1;
	}
	return 0;
}

static int limit_memory_v1(const struct inis_cgroup_root *root, const char *unit, uint64_t bytes,
			   struct inis_error *err)
{
	int dir = root->v1[INIS_V1_MEMORY];
	uint64_t both;

	if (!root->swap_v1)
		return put_number(dir, unit, "memory.limit_in_bytes", bytes, err);
	/* The kernel keeps memory <= memory + swap at every step: raise the sum first, lower it last. */
	both = get_number(dir, unit, "memory.memsw.limit_in_bytes");
	if (bytes > both && put_number(dir, unit, "memory.memsw.limit_in_bytes", bytes, err) < 0)
		return -1;
	if (put_number(dir, unit, "memory.limit_in_bytes", bytes, err) < 0)
		return -1;
	return bytes <= both ? put_number(dir, unit, "memory.memsw.limit_in_bytes", bytes, err) : 0;
}

static int limit_v2(int dir, const char *unit, const struct inis_cgroup_limits *l, struct inis_error *err)
{
	char cpu[48];

	snprintf(cpu, sizeof(cpu), "%" PRIu64 " %u", (uint64_t)l->vcpus * CPU_PERIOD_US, CPU_PERIOD_US);
	if ((l->vcpus && put(dir, unit, "cpu.max", cpu, err) < 0) ||
	    (l->mem_mb && put_number(dir, unit, "memory.max", (uint64_t)l->mem_mb << 20, err) < 0) ||
	    (l->pids_max && put_number(dir, unit, "pids.max", l->pids_max, err) < 0))
		return -1;
	/* Without swap accounting the file is missing, and there is nothing to limit. */
	if (l->mem_mb && put_number(dir, unit, "memory.swap.max", 0, NULL) < 0 && errno != ENOENT)
		return inis_fail_errno(err, "limit the swap of %s", unit);
	return 0;
}

int inis_cgroup_limit(const struct inis_cgroup_root *root, const char *unit, const struct inis_cgroup_limits *l,
		      struct inis_error *err)
{
	int cpu = root->v1[INIS_V1_CPU];

	if (root->limits_v2)
		return limit_v2(root->v2, unit, l, err);
	if (l->vcpus && (put_number(cpu, unit, "cpu.cfs_period_us", CPU_PERIOD_US, err) < 0 ||
			 put_number(cpu, unit, "cpu.cfs_quota_us", (uint64_t)l->vcpus * CPU_PERIOD_US, err) < 0))
		return -1;
	if (l->mem_mb && limit_memory_v1(root, unit, (uint64_t)l->mem_mb << 20, err) < 0)
		return -1;
	return l->pids_max ? put_number(root->v1[INIS_V1_PIDS], unit, "pids.max", l->pids_max, err) : 0;
}

int inis_cgroup_oom_counter(const struct inis_cgroup_root *root, const char *unit, struct inis_error *err)
{
	int dir = root->limits_v2 ? root->v2 : root->v1[INIS_V1_MEMORY];
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", unit, root->limits_v2 ? "memory.events" : "memory.oom_control");
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		inis_fail_errno(err, "open %s", path);
	return fd;
}

static uint64_t field_of(int dir, const char *unit, const char *file, const char *key)
{
	char text[2048];
	uint64_t value = 0;

	if (get(dir, unit, file, text, sizeof(text)))
		inis_cgroup_field(text, key, &value);
	return value;
}

int inis_cgroup_usage(const struct inis_cgroup_root *root, const char *unit, struct inis_cgroup_usage *out,
		      struct inis_error *err)
{
	char text[2048];

	/* cpu.stat is there in every v2 group, controllers or not. */
	*out = (struct inis_cgroup_usage){0};
	if (!get(root->v2, unit, "cpu.stat", text, sizeof(text)))
		return inis_fail_errno(err, "usage of cgroup %s", unit);
	inis_cgroup_field(text, "usage_usec", &out->cpu_us);
	if (root->limits_v2) {
		out->mem_bytes = get_number(root->v2, unit, "memory.current");
		out->mem_peak_bytes = get_number(root->v2, unit, "memory.peak");
		out->oom_kills = field_of(root->v2, unit, "memory.events", "oom_kill");
		out->pids = get_number(root->v2, unit, "pids.current");
	} else {
		out->mem_bytes = get_number(root->v1[INIS_V1_MEMORY], unit, "memory.usage_in_bytes");
		out->mem_peak_bytes = get_number(root->v1[INIS_V1_MEMORY], unit, "memory.max_usage_in_bytes");
		out->oom_kills = field_of(root->v1[INIS_V1_MEMORY], unit, "memory.oom_control", "oom_kill");
		out->pids = get_number(root->v1[INIS_V1_PIDS], unit, "pids.current");
	}
	return 0;
}

uint64_t inis_cgroup_forks_refused(const struct inis_cgroup_root *root, const char *unit)
{
	return field_of(root->limits_v2 ? root->v2 : root->v1[INIS_V1_PIDS], unit, "pids.events", "max");
}

int inis_cgroup_set_frozen(int v2, bool frozen, struct inis_error *err)
{
	return inis_write_at(v2, "cgroup.freeze", frozen ? "1" : "0", err);
}

int inis_cgroup_events(int v2, struct inis_error *err)
{
	int fd = openat(v2, "cgroup.events", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		inis_fail_errno(err, "open cgroup.events");
	return fd;
}

int inis_cgroup_events_read(int events, bool *populated, bool *frozen)
{
	char text[128];
	uint64_t value;
	ssize_t n = pread(events, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -1;
	text[n] = '\0';
	*populated = inis_cgroup_field(text, "populated", &value) && value;
	*frozen = inis_cgroup_field(text, "frozen", &value) && value;
	return 0;
}

int inis_cgroup_kill(int v2, struct inis_error *err)
{
	return inis_write_at(v2, "cgroup.kill", "1", err);
}

/* A guest nests groups as deep as it likes; depth is walked by name, children first. */
static bool remove_below(int dir, const char *name, int depth)
{
	cleanup_close int sub = -1;
	cleanup_dir DIR *entries = NULL;
	struct dirent *e;

	if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return true;
	if (depth == 0)
		return false;
	sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (sub < 0)
		return errno == ENOENT;
	entries = fdopendir(dup(sub));
	while (entries && (e = readdir(entries))) {
		if (e->d_type == DT_DIR && strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_below(sub, e->d_name, depth - 1);
	}
	return unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

#define DEPTH_MAX 64

bool inis_cgroup_remove(const struct inis_cgroup_root *root, const char *unit)
{
	bool gone = remove_below(root->v2, unit, DEPTH_MAX);

	for (int i = 0; i < INIS_V1_COUNT && !root->limits_v2; i++)
		gone = remove_below(root->v1[i], unit, 1) && gone;
	return gone;
}

bool inis_cgroup_exists(const struct inis_cgroup_root *root, const char *unit)
{
	bool found = faccessat(root->v2, unit, F_OK, 0) == 0;

	for (int i = 0; i < INIS_V1_COUNT && !root->limits_v2; i++)
		found = found || faccessat(root->v1[i], unit, F_OK, 0) == 0;
	return found;
}

static void each_in(int dir, void (*fn)(void *ctx, const char *unit), void *ctx)
{
	cleanup_dir DIR *entries = NULL;
	struct dirent *e;
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (own < 0)
		return;
	entries = fdopendir(own);
	if (!entries) {
		close(own);
		return;
	}
	while ((e = readdir(entries))) {
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			fn(ctx, e->d_name);
	}
}

void inis_cgroup_each(const struct inis_cgroup_root *root, void (*fn)(void *ctx, const char *unit), void *ctx)
{
	each_in(root->v2, fn, ctx);
	for (int i = 0; i < INIS_V1_COUNT && !root->limits_v2; i++)
		each_in(root->v1[i], fn, ctx);
}
