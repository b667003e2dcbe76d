/* SPDX-License-Identifier: Apache-2.0
 *
 * template_build.c - `inis template build`: from packages to a template.
 *
 * All of it happens in a temporary directory beside the templates, which is renamed when it is whole and on the
 * disk. Whatever ends a build early, its directory is removed: by the build itself, or, after SIGKILL, by the next
 * one.
 */
#include "cli/template_build.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/template_dir.h"
#include "cli/template_sandbox.h"
#include "os/path.h"

#define NAME           "debian"
#define ARGUMENTS_MAX  40
#define LOG_SHOWN      2000
#define SOURCES_LIST   "etc/apt/sources.list"
#define SOURCES_DEB822 "etc/apt/sources.list.d/machine.sources"

/* Without these a guest cannot be at home, and configure.sh not work. */
static const char *const ALWAYS[] = {"apt", "bash", "sudo", "usr-is-merged"};

/* What agents' work needs most. */
static const char *const USUAL[] = {"build-essential",
				    "ca-certificates",
				    "curl",
				    "file",
				    "git",
				    "iproute2",
				    "jq",
				    "less",
				    "locales",
				    "nodejs",
				    "npm",
				    "patch",
				    "procps",
				    "python3",
				    "python3-pip",
				    "python3-venv",
				    "rsync",
				    "unzip",
				    "vim-tiny",
				    "xz-utils",
				    "zip"};

#define COUNT(list_) (sizeof(list_) / sizeof((list_)[0]))

struct work {
	int templates;
	int dir; /* the temporary directory: becomes the template */
	int root;
	int step; /* work/: is removed before */
	char name[32];
	char path[PATH_MAX]; /* of work/ */
	struct template_steps steps;
	struct template_group group;
};

static void say(const char *what)
{
	fprintf(stderr, "inis: %s\n", what);
}

static int open_interrupts(struct inis_error *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? inis_fail_errno(err, "signals") : fd;
}

static int check_interrupt(const struct work *w, struct inis_error *err)
{
	struct signalfd_siginfo info;

	if (read(w->steps.interrupts, &info, sizeof(info)) > 0)
		return inis_fail(err, INIS_CONFLICT, "interrupted");
	return inis_deadline_poll(w->steps.deadline) == 0 ? template_late(&w->group, err) : 0;
}

static int open_work(struct work *w, const struct template_build *b, struct inis_error *err)
{
	char real[PATH_MAX];

	if (template_group_open(&w->group, w->templates, &b->limits, err) < 0)
		return -1;
	w->steps.group = &w->group;
	w->steps.deadline = b->limits.time_ms ? inis_deadline_in(b->limits.time_ms) : INIS_NEVER;
	w->steps.interrupts = open_interrupts(err);
	w->dir = w->steps.interrupts < 0 ? -1 : template_dir_temporary(w->templates, w->name, err);
	if (w->dir < 0)
		return -1;
	w->root = inis_make_dir_at(w->dir, INIS_TEMPLATE_ROOT, 0755, err);
	w->step = w->root < 0 ? -1 : inis_make_dir_at(w->dir, "work", 0700, err);
	if (w->step < 0)
		return -1;
	if (!realpath(b->state_dir, real) ||
	    (size_t)snprintf(w->path, sizeof(w->path), "%s/" INIS_TEMPLATES_DIR "/%s/work", real, w->name) >=
		    sizeof(w->path))
		return inis_fail_errno(err, "path of %s", b->state_dir);
	w->steps.log = openat(w->step, "log", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return w->steps.log < 0 ? inis_fail_errno(err, "make the log of the build") : 0;
}

static void close_work(struct work *w)
{
	template_group_close(&w->group);
	close_fd(&w->root);
	close_fd(&w->step);
	close_fd(&w->steps.log);
	close_fd(&w->steps.interrupts);
	if (w->dir >= 0)
		inis_remove_tree_at(w->templates, w->name, NULL);
	close_fd(&w->dir);
	close_fd(&w->templates);
}

/* What a failed step said last; without what a terminal would obey. */
static void show_log(int log)
{
	char text[LOG_SHOWN + 1];
	off_t size = lseek(log, 0, SEEK_END);
	ssize_t n = pread(log, text, LOG_SHOWN, size > LOG_SHOWN ? size - LOG_SHOWN : 0);

	for (ssize_t i = 0; i < n; i++)
		fputc((unsigned char)text[i] >= ' ' || text[i] == '\n' ? text[i] : ' ', stderr);
}

static int ended(struct work *w, const char *step, int rc, struct inis_error *err)
{
	struct inis_error why = *err;

	if (rc == 0)
		return 0;
	if (why.code != INIS_CONFLICT)
		show_log(w->steps.log);
	inis_fail(err, why.code, "%s: %.200s", step, why.message);
	err->sys_errno = why.sys_errno;
	return -1;
}

static int fetch(struct work *w, const struct template_build *b, struct inis_error *err)
{
	const char *args[ARGUMENTS_MAX] = {w->path};
	char own_cache[PATH_MAX + 8];
	size_t n = 2;

	snprintf(own_cache, sizeof(own_cache), "%s/cache", w->path);
	args[1] = b->cache ? b->cache : own_cache;
	for (size_t i = 0; i < COUNT(ALWAYS); i++)
		args[n++] = ALWAYS[i];
	for (size_t i = 0; !b->packages && i < COUNT(USUAL); i++)
		args[n++] = USUAL[i];
	for (char *const *p = b->packages; p && *p && n < COUNT(args) - 1; p++)
		args[n++] = *p;
	say("fetching packages");
	return ended(w, "fetching packages", template_step_run(&w->steps, template_script_fetch, args, err), err);
}

static int install(struct work *w, struct inis_error *err)
{
	cleanup_close int debs = inis_make_dir_at(w->step, "debs", 0755, err);
	cleanup_close int place = debs < 0 ? -1 : inis_make_dir_at(w->root, "debs", 0755, err);

	if (place < 0)
		return -1;
	say("unpacking");
	if (ended(w, "unpacking", template_step_confined(&w->steps, template_script_extract, w->root, debs, false, err),
		  err) < 0)
		return -1;
	say("installing");
	if (ended(w, "installing",
		  template_step_confined(&w->steps, template_script_configure, w->root, debs, true, err), err) < 0)
		return -1;
	if (unlinkat(w->root, "debs", AT_REMOVEDIR) < 0)
		return inis_fail_errno(err, "remove /debs");
	return 0;
}

/* What apt asks in a session: a file of the fetch step becomes one of the tree, if it says anything. */
static int put_sources(struct work *w, const char *from, const char *to, struct inis_error *err)
{
	cleanup_close int in = openat(w->step, from, O_RDONLY | O_CLOEXEC);
	cleanup_close int out = -1;
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0)
		return inis_fail_errno(err, "open %s", from);
	if (st.st_size == 0)
		return 0;
	out = inis_openat2(w->root, to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644, RESOLVE_NO_SYMLINKS);
	if (out < 0 || fchmod(out, 0644) < 0)
		return inis_fail_errno(err, "make %s", to);
	return inis_copy_sparse(in, out, err);
}

static int describe(struct work *w, struct inis_template_manifest *m, struct inis_error *err)
{
	struct inis_tree_digest content;
	struct inis_tree_digest index;
	char count[16];

	say("computing its digest");
	if (inis_tree_digest(w->root, INIS_TREE_CONTENT, &content, err) < 0 ||
	    inis_tree_digest(w->root, INIS_TREE_INDEX, &index, err) < 0 || check_interrupt(w, err) < 0)
		return -1;
	inis_template_manifest_init(m, NAME, content.hex, inis_wall_ms());
	memcpy(m->index, index.hex, sizeof(m->index));
	m->size_bytes = content.bytes;
	m->entries = content.entries;
	if (inis_read_at(w->step, "count", count, sizeof(count), err) < 0 ||
	    inis_read_at(w->step, "suite", m->suite, sizeof(m->suite), err) < 0)
		return -1;
	m->packages = (uint32_t)strtoul(count, NULL, 10);
	return inis_template_manifest_write(w->dir, m, err);
}

/* On the disk first, then its name. */
static int publish(struct work *w, const struct inis_template_manifest *m, bool *fresh, struct inis_error *err)
{
	cleanup_close int users = inis_make_dir_at(w->dir, INIS_TEMPLATE_USERS, 0700, err);
	char name[INIS_TEMPLATE_DIR_SIZE];

	close_fd(&w->steps.log);
	if (users < 0 || inis_remove_tree_at(w->dir, "work", err) < 0)
		return -1;
	if (syncfs(w->dir) < 0)
		return inis_fail_errno(err, "write the template to the disk");
	inis_template_dir_name(m, name);
	*fresh = renameat(w->templates, w->name, w->templates, name) == 0;
	if (!*fresh)
		return errno == EEXIST || errno == ENOTEMPTY ? 0 : inis_fail_errno(err, "name the template");
	close_fd(&w->dir);
	return fsync(w->templates) < 0 ? inis_fail_errno(err, "write the template to the disk") : 0;
}

static int build(struct work *w, const struct template_build *b, struct inis_template_manifest *m, bool *fresh,
		 struct inis_error *err)
{
	if (open_work(w, b, err) < 0 || fetch(w, b, err) < 0 || install(w, err) < 0 ||
	    put_sources(w, "sources.list", SOURCES_LIST, err) < 0 ||
	    put_sources(w, "machine.sources", SOURCES_DEB822, err) < 0 || describe(w, m, err) < 0)
		return -1;
	return publish(w, m, fresh, err);
}

int template_build_debian(const struct template_build *b, struct inis_template_manifest *out, bool *fresh,
			  struct inis_error *err)
{
	struct work w = {
		.dir = -1, .root = -1, .step = -1, .steps = {.log = -1, .interrupts = -1}, .group = {.v2 = -1}};
	cleanup_close int lock = -1;
	int rc = -1;

	w.templates = template_dir_open(b->state_dir, err);
	if (w.templates >= 0)
		lock = template_dir_lock(w.templates, err);
	if (lock >= 0) {
		template_dir_sweep(w.templates);
		rc = build(&w, b, out, fresh, err);
	}
	close_work(&w);
	return rc;
}
