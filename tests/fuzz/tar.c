/* SPDX-License-Identifier: Apache-2.0
 *
 * tar.c - an archive gives the same entries and bytes however it is cut, and no name that is too long or empty.
 */
#include "base/tar.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_entry(void *ctx, const struct tar_entry *e, struct inis_error *err)
{
	(void)err;
	if (strlen(e->path) >= TAR_PATH_MAX || strlen(e->target) >= TAR_PATH_MAX || e->mode > 07777 ||
	    e->mtime_ns > 999999999 || (e->type != TAR_FILE && e->size > 0))
		abort();
	inis_buf_printf(ctx, "%d %o %lld.%u %s %s\n", (int)e->type, e->mode, (long long)e->mtime_s, e->mtime_ns,
			e->path, e->target);
	return 0;
}

static int on_data(void *ctx, const uint8_t *data, size_t n, struct inis_error *err)
{
	(void)err;
	inis_buf_append(ctx, data, n);
	return 0;
}

static int on_end(void *ctx, struct inis_error *err)
{
	(void)err;
	inis_buf_append(ctx, ".", 1);
	return 0;
}

static int read_all(struct inis_buf *out, const uint8_t *data, size_t size, size_t piece)
{
	static const struct tar_handler handler = {on_entry, on_data, on_end};
	struct tar_reader r;
	int rc = 0;

	tar_reader_init(&r, &handler, out);
	for (size_t at = 0; rc == 0 && at < size; at += piece)
		rc = tar_read(&r, data + at, size - at < piece ? size - at : piece, NULL);
	if (rc == 0)
		rc = tar_read_all(&r);
	tar_reader_free(&r);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inis_buf whole = INIS_BUF_INIT(0), cut = INIS_BUF_INIT(0);
	int rc = read_all(&whole, data, size, size ? size : 1);

	if (read_all(&cut, data, size, 13) != rc || whole.len != cut.len ||
	    (whole.len && memcmp(whole.data, cut.data, whole.len) != 0))
		abort();
	inis_buf_free(&whole);
	inis_buf_free(&cut);
	return 0;
}
