/* SPDX-License-Identifier: Apache-2.0
 *
 * keep.c - what a session's processes leave behind, put aside for the front.
 *
 * When all processes are dead, the files of the spool directory (wire/spool_proto.h) are copied into a directory of
 * the unit's, and that is renamed to logs/<session id>, owned by the front: it is there whole or not at all, and a
 * broker that takes over halfway begins anew. Nothing is written below logs/, whose owner is not trusted.
 *
 * The agent is not trusted either. Only plain files with names of the protocol are taken, so many and so long as an
 * honest agent can make; the rest is not looked at. Nothing runs any more that could change them meanwhile.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "driver/container/internal.h"
#include "os/path.h"
#include "wire/spool_proto.h"

#define TEMPORARY    "kept"
#define ENTRIES_MAX  (4 * INIS_SPOOL_FILES_MAX) /* of the directory; an agent that makes more loses some */
#define SEGMENTS_MAX (INIS_SPOOL_FILES_MAX - 1)

struct keeping {
	int from;
	int to; /* -1: nothing has been found yet */
	unsigned segments;
	uint64_t bytes; /* of segments */
};

/* The most bytes that a file of this name may have; 0: it is none of ours. */
static uint64_t size_allowed(const struct keeping *k, const char *name)
{
	struct inis_spool_name parsed;
	uint64_t room = INIS_SPOOL_TOTAL - k->bytes;

	if (strcmp(name, INIS_SPOOL_TABLE) == 0)
		return INIS_SPOOL_TABLE_MAX;
	if (!inis_spool_name_parse(name, &parsed) || k->segments == SEGMENTS_MAX)
		return 0;
	return room < INIS_SPOOL_SEGMENT ? room : INIS_SPOOL_SEGMENT;
}

static int make_target(struct keeping *k, const struct cunit *cu, struct inis_error *err)
{
	if (k->to >= 0)
		return 0;
	if (inis_remove_tree_at(cu->dir, TEMPORARY, err) < 0)
		return -1;
	k->to = inis_make_dir_at(cu->dir, TEMPORARY, 0700, err);
	return k->to < 0 ? -1 : 0;
}

static int give(const struct cunit *cu, int fd, struct inis_error *err)
{
	uint32_t uid = cu->c->config.logs_uid;

	return fchown(fd, uid, uid) < 0 ? inis_fail_errno(err, "give a log away") : 0;
}

static int copy(const struct keeping *k, const struct cunit *cu, const char *name, int in, struct inis_error *err)
{
	cleanup_close int out = openat(k->to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (out < 0)
		return inis_fail_errno(err, "make a copy of a log");
	return inis_copy_sparse(in, out, err) < 0 ? -1 : give(cu, out, err);
}

static int keep_entry(struct keeping *k, const struct cunit *cu, const char *name, struct inis_error *err)
{
	uint64_t allowed = size_allowed(k, name);
	cleanup_close int in = -1;
	struct stat st;

	if (allowed == 0)
		return 0;
	in = inis_openat2(k->from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0,
			  RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_size <= 0 ||
	    (uint64_t)st.st_size > allowed)
		return 0;
	if (make_target(k, cu, err) < 0 || copy(k, cu, name, in, err) < 0)
		return -1;
	if (strcmp(name, INIS_SPOOL_TABLE) != 0) {
		k->segments++;
		k->bytes += (uint64_t)st.st_size;
	}
	return 0;
}

static DIR *list(int dir)
{
	cleanup_close int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = own < 0 ? NULL : fdopendir(own);

	if (entries)
		take_fd(&own);
	return entries;
}

static int keep_entries(struct keeping *k, const struct cunit *cu, struct inis_error *err)
{
	cleanup_dir DIR *entries = list(k->from);
	struct dirent *e;

	if (!entries)
		return inis_fail_errno(err, "list the spool directory");
	for (unsigned n = 0; n < ENTRIES_MAX && (e = readdir(entries)); n++) {
		if (keep_entry(k, cu, e->d_name, err) < 0)
			return -1;
	}
	return 0;
}

static int publish(const struct keeping *k, const struct cunit *cu, struct inis_error *err)
{
	if (k->to < 0)
		return 0;
	if (give(cu, k->to, err) < 0)
		return -1;
	/* Already there: by a broker that died before it could say so. */
	if (renameat2(cu->dir, TEMPORARY, cu->c->logs_dir, cu->record.session.s, RENAME_NOREPLACE) < 0 &&
	    errno != EEXIST)
		return inis_fail_errno(err, "put logs aside");
	return 0;
}

static int keep(struct cunit *cu, struct inis_error *err)
{
	char label[LAYER_LABEL_SIZE];
	struct keeping k = {.from = -1, .to = -1};
	int rc;

	cunit_loop_label(cu, label);
	k.from = layer_recover_spool(&cu->layer, cu->dir, label, err);
	rc = k.from < 0 || keep_entries(&k, cu, err) < 0 ? -1 : publish(&k, cu, err);
	close_fd(&k.from);
	close_fd(&k.to);
	return rc;
}

/* Without logs the unit goes all the same. */
static void work_keep(struct inis_job *job)
{
	struct cunit *cu = field_owner(job, struct cunit, job);
	struct inis_error err = INIS_ERROR_INIT;

	if (keep(cu, &err) < 0)
		inis_log(INIS_LOG_WARN, "logs of a session are lost", "session", cu->record.session.s, "unit",
			 cu->u.id.s, "reason", err.message, NULL);
}

static void emptied(struct cunit *cu)
{
	if (cu->stage == RECORD_ENDING)
		record_advance(cu->dir, RECORD_EMPTIED);
	cu->stage = RECORD_EMPTIED;
}

static void keep_done(struct inis_job *job)
{
	struct cunit *cu = field_owner(job, struct cunit, job);

	cu->job_running = false;
	emptied(cu);
	cunit_destroy_step(cu);
}

/* Most sessions had no process: that is seen at once, where the disk is at hand. */
static bool has_nothing(const struct cunit *cu)
{
	cleanup_close int spool = cu->layer.mount < 0 ? -1 : layer_open_spool(&cu->layer, NULL);
	cleanup_dir DIR *entries = spool < 0 ? NULL : list(spool);
	struct dirent *e;

	while (entries && (e = readdir(entries))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			return false;
	}
	return entries != NULL;
}

/* A disk of before a crash of the machine was not unmounted: there is nothing sound on it. */
static bool may_have_something(const struct cunit *cu)
{
	return cu->stage == RECORD_ENDING && cu->c->logs_dir >= 0 && strcmp(cu->record.boot_id, cu->c->boot_id) == 0 &&
	       !has_nothing(cu);
}

bool cunit_keep(struct cunit *cu)
{
	if (cu->stage == RECORD_EMPTIED)
		return false;
	if (!may_have_something(cu)) {
		emptied(cu);
		return false;
	}
	cunit_submit(cu, &cu->c->keeper, work_keep, keep_done);
	return true;
}
