/* SPDX-License-Identifier: Apache-2.0
 *
 * adopt.c - after a restart: the unit table against what exists.
 *
 * A unit whose record names a session, is of this boot and whose PID 1 is still the same process is taken over as
 * it is. Everything else that carries our name (pool units, half-made units, dead ones, cgroups without a unit,
 * loop devices without a user) is destroyed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "driver/container/internal.h"
#include "os/loopdev.h"
#include "os/path.h"
#include "os/proc.h"

static struct cunit *find(struct container *c, const char *id)
{
	for (struct cunit *cu = c->units; cu; cu = cu->next) {
		if (strcmp(cu->u.id.s, id) == 0)
			return cu;
	}
	return NULL;
}

/* The process of the record, if it still is that process. The descriptor is opened first, so that the check holds. */
static int open_process(const struct container *c, const struct record *r)
{
	cleanup_close int pidfd = -1;

	if (strcmp(r->boot_id, c->boot_id) != 0)
		return -1;
	pidfd = inis_pidfd_open(r->pid, NULL);
	if (pidfd < 0 || inis_start_time(r->pid) != r->start_time || inis_proc_state(r->pid) == 'Z')
		return -1;
	return take_fd(&pidfd);
}

static void fill(struct cunit *cu, const struct record *r)
{
	struct container *c = cu->c;
	bool same_boot = strcmp(r->boot_id, c->boot_id) == 0;
	bool populated;

	cu->record = *r;
	cu->u.session = r->session;
	cu->u.pid = r->pid;
	cu->u.start_time = r->start_time;
	cu->u.disk_kind = (enum inis_disk_kind)r->disk_kind;
	cu->u.disk_mb = r->disk_mb;
	cu->layer.kind = (enum inis_disk_kind)r->disk_kind;
	cu->layer.loop = same_boot ? r->loop : -1;
	cu->u.uid_base = r->uid_base;
	/* Outside what is configured now, or held by another server: then it is not ours to give back. */
	cu->owns_range = ranges_claim(&c->ranges, r->uid_base);
	cu->u.pidfd = open_process(c, r);
	cu->cgroup = inis_cgroup_open(&c->cgroups, cu->u.id.s, NULL);
	if (cu->cgroup >= 0) {
		cleanup_close int events = inis_cgroup_events(cu->cgroup, NULL);

		if (events >= 0)
			inis_cgroup_events_read(events, &populated, &cu->u.frozen);
	}
}

static bool can_live(const struct cunit *cu)
{
	return cu->stage == RECORD_IN_USE && cu->u.session.s[0] != '\0' && cu->u.pidfd >= 0 && cu->cgroup >= 0;
}

static int take_over(struct container *c, const struct unit_id *id, struct inis_error *err)
{
	struct cunit *cu = cunit_new(c, id);
	struct record r;

	if (!cu)
		return inis_fail(err, INIS_UNAVAILABLE, "no memory for unit %s", id->s);
	cu->state = CU_DYING;
	cu->layer.kind = INIS_DISK_SOFT;
	cu->dir = inis_openat2(c->units_dir, id->s, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, 0);
	if (cu->dir >= 0 && record_read(cu->dir, id, &r, &cu->stage, NULL) == 0)
		fill(cu, &r);
	if (can_live(cu) && cunit_watch_exit(cu, NULL) == 0) {
		cu->state = CU_LIVE;
		return 0;
	}
	cunit_destroy(&c->driver, &cu->u, NULL, NULL);
	return 0;
}

static int adopt_units(struct container *c, struct inis_error *err)
{
	cleanup_dir DIR *entries = NULL;
	struct dirent *e;
	int own = openat(c->units_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (own < 0 || !(entries = fdopendir(own)))
		return inis_fail_errno(err, "list units");
	while ((e = readdir(entries))) {
		struct unit_id id;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (!unit_id_parse(e->d_name, &id))
			inis_remove_tree_at(c->units_dir, e->d_name, NULL);
		else if (take_over(c, &id, err) < 0)
			return -1;
	}
	return 0;
}

static void destroy_stray_group(void *ctx, const char *name)
{
	struct container *c = ctx;
	struct unit_id id;
	struct cunit *cu;

	if (find(c, name))
		return;
	if (!unit_id_parse(name, &id)) {
		inis_cgroup_remove(&c->cgroups, name);
		return;
	}
	cu = cunit_new(c, &id);
	if (!cu)
		return;
	cunit_destroy(&c->driver, &cu->u, NULL, NULL);
}

static bool has_unit(void *ctx, const char *label)
{
	struct container *c = ctx;
	const char *id = strrchr(label, '-');

	return id && find(c, id + 1) != NULL;
}

int container_adopt(struct container *c, struct inis_error *err)
{
	char prefix[LAYER_LABEL_SIZE];

	if (adopt_units(c, err) < 0)
		return -1;
	inis_cgroup_each(&c->cgroups, destroy_stray_group, c);
	snprintf(prefix, sizeof(prefix), "inis-%s-", c->config.instance);
	inis_loop_detach_stray(prefix, has_unit, c);
	return 0;
}
