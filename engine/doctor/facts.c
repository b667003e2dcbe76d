/* SPDX-License-Identifier: Apache-2.0
 *
 * facts.c - reading sysctls, security modules and mounts below a root.
 */
#include "doctor/facts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "os/fd.h"
#include "os/path.h"

#define LINE_MAX_BYTES 512

static const char *const NAMESPACES[DOCTOR_NS_COUNT] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"};

const char *doctor_namespace_name(enum doctor_namespace ns)
{
	return NAMESPACES[ns];
}

static bool exists(int root, const char *path)
{
	return faccessat(root, path, F_OK, 0) == 0;
}

/* The first line of a file; false when there is none. */
static bool read_line(int root, const char *path, char *line, size_t size)
{
	if (inis_read_at(root, path, line, size, NULL) < 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

static long read_number(int root, const char *path)
{
	char line[32];
	char *end;
	long value;

	if (!read_line(root, path, line, sizeof(line)))
		return -1;
	value = strtol(line, &end, 10);
	return end == line ? -1 : value;
}

static void read_status(struct doctor_facts *f, int root)
{
	char text[8192];
	const char *at;

	if (inis_read_at(root, "proc/self/status", text, sizeof(text), NULL) < 0)
		return;
	at = strstr(text, "\nSeccomp:");
	if (at)
		f->seccomp = (int)strtol(at + strlen("\nSeccomp:"), NULL, 10);
	at = strstr(text, "\nCapEff:");
	f->caps_known = at != NULL;
	if (at)
		f->caps = strtoull(at + strlen("\nCapEff:"), NULL, 16);
}

/* "docker-default (enforce)"; what is only complained about stands in nobody's way. */
static void read_security_modules(struct doctor_facts *f, int root)
{
	char line[sizeof(f->apparmor)];

	f->selinux = read_number(root, "sys/fs/selinux/enforce") == 1;
	if (!read_line(root, "proc/self/attr/apparmor/current", line, sizeof(line)) &&
	    (f->selinux || !read_line(root, "proc/self/attr/current", line, sizeof(line))))
		return;
	if (strstr(line, "(enforce)"))
		memcpy(f->apparmor, line, sizeof(line));
}

static void read_sysctls(struct doctor_facts *f, int root)
{
	char path[64];

	for (unsigned i = 0; i < DOCTOR_NS_COUNT; i++) {
		snprintf(path, sizeof(path), "proc/sys/user/max_%s_namespaces", NAMESPACES[i]);
		f->ns_max[i] = read_number(root, path);
	}
	f->unprivileged_userns_clone = read_number(root, "proc/sys/kernel/unprivileged_userns_clone");
	f->apparmor_restrict_userns = read_number(root, "proc/sys/kernel/apparmor_restrict_unprivileged_userns");
}

/* One line of mountinfo: id parent dev root mountpoint options … - type source superoptions. */
static void read_mount(struct doctor_facts *f, const char *line)
{
	const char *tail = strstr(line, " - ");
	char at[LINE_MAX_BYTES];
	char options[LINE_MAX_BYTES];
	char type[32];
	bool read_only;

	if (!tail || sscanf(line, "%*s %*s %*s %*s %511s %511s", at, options) != 2 ||
	    sscanf(tail, " - %31s", type) != 1)
		return;
	read_only = strncmp(options, "ro", 2) == 0 && (options[2] == ',' || options[2] == '\0');
	if (strcmp(at, "/proc") == 0 && strcmp(type, "proc") == 0)
		f->proc_read_only = read_only;
	/* An automount point covers nothing until somebody looks. */
	if (strncmp(at, "/proc/", 6) == 0 && strcmp(type, "autofs") != 0 && strcmp(type, "binfmt_misc") != 0) {
		f->proc_covered++;
		snprintf(f->proc_example, sizeof(f->proc_example), "%.63s", at);
	}
	if (strcmp(type, "cgroup2") == 0 && !f->cgroup2) {
		f->cgroup2 = true;
		f->cgroup2_read_only = read_only;
		snprintf(f->cgroup2_at, sizeof(f->cgroup2_at), "%.63s", at);
	}
}

static void read_mounts(struct doctor_facts *f, int root)
{
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(4 << 20);
	cleanup_close int fd = openat(root, "proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	char *rest = NULL;

	if (fd < 0 || inis_read_all(fd, &text, NULL) < 0 || !inis_buf_cstr(&text))
		return;
	for (char *line = strtok_r((char *)text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strlen(line) < 2 * LINE_MAX_BYTES)
			read_mount(f, line);
	}
}

static void read_filesystems(struct doctor_facts *f, int root)
{
	char text[8192];

	f->filesystems_known = inis_read_at(root, "proc/filesystems", text, sizeof(text), NULL) > 0;
	if (!f->filesystems_known)
		return;
	f->ext4 = strstr(text, "\text4\n") != NULL;
	f->overlay = strstr(text, "\toverlay\n") != NULL;
}

static void read_uid_map(struct doctor_facts *f, int root)
{
	char line[64];
	unsigned long inside, outside, count;

	f->userns_initial = !read_line(root, "proc/self/uid_map", line, sizeof(line)) ||
			    (sscanf(line, "%lu %lu %lu", &inside, &outside, &count) == 3 && count == 4294967295UL);
}

void doctor_facts_read(struct doctor_facts *f, int root)
{
	*f = (struct doctor_facts){.seccomp = -1};
	f->container = exists(root, ".dockerenv") || exists(root, "run/.containerenv");
	f->loop_control = exists(root, "dev/loop-control");
	read_status(f, root);
	read_security_modules(f, root);
	read_sysctls(f, root);
	read_mounts(f, root);
	read_filesystems(f, root);
	read_uid_map(f, root);
}
