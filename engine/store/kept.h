/* SPDX-License-Identifier: Apache-2.0
 *
 * kept.h - the files that are kept of sessions that have ended, for a while.
 *
 * DOC: How it works
 *
 * One directory a session, flat, put there whole by the broker and never changed. What is in the files is not known
 * here. One thread reads, and removes what is too old or, the oldest first, too much.
 */
#ifndef INIS_STORE_KEPT_H
#define INIS_STORE_KEPT_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"

#define INIS_KEPT_FILES_MAX 4096 /* of a session; more are not shown */
#define INIS_KEPT_NAME_MAX  95 /* longer ones are not shown */

struct inis_kept;

struct inis_kept_config {
	uv_loop_t *loop;
	const char *dir; /* exists, ours */
	int64_t keep_ms; /* older ones are removed; 0: all are */
	uint64_t max_bytes; /* of all on the disk */
};

struct inis_kept *inis_kept_open(const struct inis_kept_config *config, struct inis_error *err);
/* Finishes what is queued, then done on the loop. */
void inis_kept_close(struct inis_kept *k, void (*done)(void *ctx), void *ctx);

/* A session has ended: there may be more now. */
void inis_kept_added(struct inis_kept *k, const struct session_id *id);

struct inis_kept_file {
	char name[INIS_KEPT_NAME_MAX + 1];
	uint64_t size;
};

/* Valid during the callback, which comes later, on the loop. */
typedef void (*inis_kept_files_done)(void *ctx, const struct inis_kept_file *files, size_t count,
				     const struct inis_error *err);
typedef void (*inis_kept_read_done)(void *ctx, const uint8_t *data, size_t n, const struct inis_error *err);

/* In no order; none when nothing is kept of it. After an error return done is not called. */
int inis_kept_files(struct inis_kept *k, const struct session_id *id, inis_kept_files_done done, void *ctx,
		    struct inis_error *err);
/* At most max bytes from offset on; fewer only at the file's end, none when it is not there (any more). */
int inis_kept_read(struct inis_kept *k, const struct session_id *id, const char *name, uint64_t offset, size_t max,
		   inis_kept_read_done done, void *ctx, struct inis_error *err);

#endif
