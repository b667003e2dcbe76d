/* SPDX-License-Identifier: Apache-2.0
 *
 * templates.c - templates that appear and disappear while the broker runs.
 *
 * A template gets its name when it is complete and loses it before it is removed, so a look at the names is enough.
 * A new one is compared with its manifest before it is offered: that is work for a worker. The list of bases is
 * changed on the loop's thread only, and only when no look is going on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "driver/container/internal.h"

static struct container *scan_owner(struct inis_job *job)
{
	return field_owner(job, struct container, scan.job);
}

static bool known(struct container *c, const char *name)
{
	for (struct base *b = c->bases; b; b = b->next) {
		if (!b->host && !b->gone && strcmp(b->name, name) == 0) {
			b->seen = true;
			return true;
		}
	}
	return false;
}

/* The template if it is what was built. */
static struct base *open_template(struct container *c, const char *name)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_template_manifest manifest;
	cleanup_close int dir = inis_template_open(c->templates_dir, name, &manifest, &err);
	struct base *b = NULL;

	if (dir >= 0 && inis_template_verify(dir, &manifest, INIS_TREE_INDEX, &err) == 0)
		b = base_new(name, take_fd(&dir), &err);
	if (b)
		b->manifest = manifest;
	else
		inis_log(INIS_LOG_ERROR, "a template is not used", "template", name, "reason", err.message, NULL);
	return b;
}

static void look(struct inis_job *job)
{
	struct container *c = scan_owner(job);
	int own = openat(c->templates_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *entries = own < 0 ? NULL : fdopendir(own);
	struct dirent *e;

	for (struct base *b = c->bases; b; b = b->next)
		b->seen = entries == NULL;
	while (entries && (e = readdir(entries))) {
		struct base *b;

		if (!inis_template_is_dir_name(e->d_name) || known(c, e->d_name) || !(b = open_template(c, e->d_name)))
			continue;
		b->seen = true;
		b->next = c->scan.found;
		c->scan.found = b;
	}
}

/* Whether anything is different. */
static bool merge(struct container *c)
{
	bool changed = c->scan.found != NULL;

	for (struct base *b = c->bases; b; b = b->next) {
		if (b->host || b->gone || b->seen)
			continue;
		b->gone = changed = true;
		inis_log(INIS_LOG_INFO, "template gone", "template", b->name, NULL);
	}
	while (c->scan.found) {
		struct base *b = c->scan.found;

		c->scan.found = b->next;
		b->next = c->bases;
		c->bases = b;
		inis_log(INIS_LOG_INFO, "template ready", "template", b->name, "version", b->manifest.version, NULL);
	}
	return changed;
}

void templates_look(struct container *c)
{
	look(&c->scan.job);
	merge(c);
}

static void submit(struct container *c);

static void looked(struct inis_job *job)
{
	struct container *c = scan_owner(job);
	bool again = c->scan.again;

	c->scan.running = c->scan.again = false;
	if (merge(c) && c->driver.templates_changed)
		c->driver.templates_changed(c->driver.ctx);
	if (again)
		submit(c);
}

static void submit(struct container *c)
{
	c->scan.running = true;
	c->scan.job.work = look;
	c->scan.job.done = looked;
	inis_worker_submit(&c->sweeper, &c->scan.job);
}

static void on_change(struct inis_watch *w, uint32_t events)
{
	struct container *c = field_owner(w, struct container, templates_watch);
	char buf[4096];

	(void)events;
	while (read(w->fd, buf, sizeof(buf)) > 0)
		;
	if (c->scan.running)
		c->scan.again = true;
	else
		submit(c);
}

int templates_watch(struct container *c, struct inis_error *err)
{
	cleanup_close int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char path[32];

	c->templates_watch.ready = on_change;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->templates_dir);
	if (fd < 0 || inotify_add_watch(fd, path, IN_MOVED_TO | IN_MOVED_FROM | IN_ONLYDIR) < 0 ||
	    inis_watch_start(c->config.events, &c->templates_watch, fd, EPOLLIN, NULL) < 0)
		return inis_fail_errno(err, "watch the templates");
	take_fd(&fd);
	return 0;
}

void templates_unwatch(struct container *c)
{
	int fd = c->templates_watch.fd;

	if (fd < 0)
		return;
	inis_watch_stop(c->config.events, &c->templates_watch);
	close_fd(&fd);
}
