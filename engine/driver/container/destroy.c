/* SPDX-License-Identifier: Apache-2.0
 *
 * destroy.c - removing a unit until nothing of it is left.
 *
 * cgroup.kill ends every process, frozen ones too. PID 1 ends last, and with it the mount namespace; then what the
 * processes left is put aside (keep.c), the loop device clears itself, the cgroups can be removed and the files
 * deleted. The kernel does much of this a little later than it says, so each step is looked at again until it is
 * true. After the deadline the caller is told that something is left; the attempts go on, and until they succeed the
 * uid range is not used again.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "driver/container/internal.h"
#include "os/loopdev.h"
#include "os/path.h"
#include "os/proc.h"

#define RETRY_SLOW_MS 200
#define QUICK_TRIES   200u

static void on_timer(struct inis_timer *t)
{
	cunit_destroy_step(field_owner(t, struct cunit, destroy_timer));
}

static void kill_all(struct cunit *cu)
{
	if (cu->cgroup < 0)
		cu->cgroup = inis_cgroup_open(&cu->c->cgroups, cu->u.id.s, NULL);
	if (cu->cgroup >= 0)
		inis_cgroup_kill(cu->cgroup, NULL);
	if (cu->u.pidfd >= 0)
		inis_pidfd_signal(cu->u.pidfd, SIGKILL);
}

static void work_remove(struct inis_job *job)
{
	struct cunit *cu = field_owner(job, struct cunit, job);

	inis_remove_tree_at(cu->c->units_dir, cu->u.id.s, NULL);
}

/* True once the unit's directory is gone. */
static bool remove_files(struct cunit *cu)
{
	struct container *c = cu->c;

	if (faccessat(c->units_dir, cu->u.id.s, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return true;
	cunit_sweep(cu, work_remove);
	return false;
}

static bool processes_gone(struct cunit *cu)
{
	if (!cu->u.exited)
		cu->u.exited = cu->u.pidfd < 0 || inis_pidfd_reap(cu->u.pidfd, NULL);
	return cu->u.exited;
}

static bool loop_gone(struct cunit *cu)
{
	char label[LAYER_LABEL_SIZE];

	if (cu->layer.loop < 0)
		return true;
	cunit_loop_label(cu, label);
	return !inis_loop_attached(cu->layer.loop, label);
}

/* Each part says whether it is done; all that can be done now is. */
static bool all_gone(struct cunit *cu)
{
	bool groups;

	if (!processes_gone(cu) || cu->job_running || cunit_keep(cu))
		return false;
	close_fd(&cu->sock);
	close_fd(&cu->agent);
	close_fd(&cu->root);
	close_fd(&cu->usr);
	if (cu->layer.mount >= 0) {
		layer_shut(&cu->layer);
		layer_release(&cu->layer);
	}
	groups = inis_cgroup_remove(&cu->c->cgroups, cu->u.id.s);
	if (!loop_gone(cu) || !groups)
		return false;
	if (!cu->files_gone)
		cu->files_gone = remove_files(cu);
	return cu->files_gone;
}

static void tell(struct cunit *cu, const struct inis_error *err)
{
	inis_driver_done done = cu->destroy_done;

	cu->destroy_done = NULL;
	if (done)
		done(cu->destroy_ctx, &cu->u.id, err);
}

void cunit_destroy_step(struct cunit *cu)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct unit_id id = cu->u.id;
	inis_driver_done done;
	void *ctx;

	if (all_gone(cu)) {
		done = cu->destroy_done;
		ctx = cu->destroy_ctx;
		if (cu->owns_range)
			ranges_give(&cu->c->ranges, cu->u.uid_base);
		base_release(cu);
		cunit_free(cu);
		if (done)
			done(ctx, &id, NULL);
		return;
	}
	if (cu->destroy_done && inis_now_ms() >= cu->destroy_deadline) {
		inis_fail(&err, INIS_INTERNAL, "unit %s: %s left after %d s", id.s,
			  !cu->u.exited ? "processes are" : "cgroups, a loop device or files are",
			  DESTROY_DEADLINE_MS / 1000);
		tell(cu, &err);
	}
	if (cu->destroy_tries == QUICK_TRIES)
		kill_all(cu);
	inis_timer_start(cu->c->config.events, &cu->destroy_timer,
			 cu->destroy_tries++ < QUICK_TRIES ? DESTROY_RETRY_MS : RETRY_SLOW_MS);
}

void cunit_destroy(struct inis_driver *d, struct inis_unit *u, inis_driver_done done, void *ctx)
{
	struct cunit *cu = (struct cunit *)u;
	struct inis_events *ev = cu->c->config.events;
	struct inis_error err = INIS_ERROR_INIT;

	if (cu->state == CU_BLANK)
		d->pool_ready--;
	cu->state = CU_DYING;
	cu->destroy_done = done;
	cu->destroy_ctx = ctx;
	cu->destroy_deadline = inis_deadline_in(DESTROY_DEADLINE_MS);
	cu->destroy_timer.fire = on_timer;
	inis_fail(&err, INIS_SESSION_ENDED, "the unit is being destroyed");
	cunit_change_abort(cu, &err);
	/* A broker that dies now leaves it to the next one to go on. */
	if (cu->record.session.s[0] != '\0' && cu->stage == RECORD_IN_USE) {
		cu->stage = RECORD_ENDING;
		record_advance(cu->dir, cu->stage);
	}
	kill_all(cu);
	inis_watch_stop(ev, &cu->sock_watch);
	inis_timer_stop(ev, &cu->deadline);
	/* From a timer: the callers of this may still look at the unit. */
	inis_timer_start(ev, &cu->destroy_timer, 0);
}

bool cunit_await_end(struct inis_driver *d, const struct unit_id *id, inis_driver_done done, void *ctx)
{
	for (struct cunit *cu = container_of_driver(d)->units; cu; cu = cu->next) {
		if (strcmp(cu->u.id.s, id->s) != 0 || cu->state != CU_DYING || cu->destroy_done)
			continue;
		cu->destroy_done = done;
		cu->destroy_ctx = ctx;
		return true;
	}
	return false;
}
