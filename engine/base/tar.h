/* SPDX-License-Identifier: Apache-2.0
 *
 * tar.h - POSIX (pax) tar archives of files, directories and symbolic links.
 *
 * Names are bytes: nothing converts or normalises them. Only what such a tree needs is written and understood; an entry
 * of another kind is given as TAR_OTHER. The reader takes pieces of any size and trusts nothing. Pure.
 */
#ifndef INIS_BASE_TAR_H
#define INIS_BASE_TAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define TAR_BLOCK    512
#define TAR_PATH_MAX 4096 /* with its NUL */

enum tar_type { TAR_FILE, TAR_DIR, TAR_LINK, TAR_OTHER };

struct tar_entry {
	enum tar_type type;
	uint32_t mode; /* permission bits, with set-id and sticky */
	uint64_t size; /* bytes of content that follow; 0 for all but files */
	int64_t mtime_s; /* seconds since 1970 */
	uint32_t mtime_ns;
	const char *path; /* relative, no slash at its end; shorter than TAR_PATH_MAX */
	const char *target; /* of a link */
};

/* Appends the headers of an entry; its content and tar_put_padding(size) follow. */
void tar_put_entry(struct inis_buf *out, const struct tar_entry *e);
void tar_put_padding(struct inis_buf *out, uint64_t size);
void tar_put_end(struct inis_buf *out);

/* -1 stops the reading; the handler has set its reason into the err of tar_read(). */
struct tar_handler {
	int (*entry)(void *ctx, const struct tar_entry *e, struct inis_error *err);
	int (*data)(void *ctx, const uint8_t *data, size_t n, struct inis_error *err); /* of a file only */
	int (*entry_end)(void *ctx, struct inis_error *err);
};

struct tar_reader {
	const struct tar_handler *handler;
	void *ctx;
	uint8_t block[TAR_BLOCK];
	size_t filled; /* of the block */
	unsigned state;
	uint64_t left; /* bytes of content, or of extended headers, still to come */
	uint64_t padding;
	bool wanted; /* the content is given to the handler */
	struct inis_buf extended; /* headers for the next entry */
	unsigned zeros; /* blocks of the end mark */
};

void tar_reader_init(struct tar_reader *r, const struct tar_handler *handler, void *ctx);
void tar_reader_free(struct tar_reader *r);
/* bad_request for what is no such archive. Bytes behind the end mark are ignored. */
int tar_read(struct tar_reader *r, const uint8_t *data, size_t n, struct inis_error *err);
/* The end mark came: the archive is whole. */
bool tar_read_all(const struct tar_reader *r);

#endif
