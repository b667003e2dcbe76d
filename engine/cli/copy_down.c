/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_down.c - from a session to this machine.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/tar.h"
#include "cli/copy.h"
#include "cli/exec_stream.h"
#include "cli/output.h"

struct download {
	struct copy *copy;
	struct inis_tree_unpack *unpack; /* into a tree, or */
	struct tar_reader reader; /* one file to stdout */
	bool file; /* it has begun */
	struct inis_error err; /* why our side has failed */
	bool broken;
};

/* ---- a file to stdout ---- */

static int on_entry(void *ctx, const struct tar_entry *e, struct inis_error *err)
{
	struct download *d = ctx;

	if (d->file || e->type != TAR_FILE)
		return inis_fail(err, INIS_IS_DIRECTORY, "is a directory: only a file can go to stdout");
	d->file = true;
	d->copy->report.files++;
	return 0;
}

static int on_content(void *ctx, const uint8_t *data, size_t n, struct inis_error *err)
{
	struct download *d = ctx;

	d->copy->report.bytes += n;
	return cli_write(1, data, n, d->copy->interrupts) < 0 ? inis_fail(err, INIS_UNAVAILABLE, "stdout is closed")
							      : 0;
}

static int on_entry_end(void *ctx, struct inis_error *err)
{
	(void)ctx;
	(void)err;
	return 0;
}

/* ---- what comes ---- */

static int on_output(void *ctx, int fd, const uint8_t *data, size_t n)
{
	struct download *d = ctx;
	int rc;

	if (fd == 2) {
		copy_take_notes(d->copy, data, n);
		return 0;
	}
	d->copy->carried += n;
	rc = d->unpack ? inis_tree_unpack_feed(d->unpack, data, n, &d->err) : tar_read(&d->reader, data, n, &d->err);
	d->broken = rc < 0;
	return rc;
}

static int finish(struct download *d, int rc, int exit_code, struct inis_error *err)
{
	struct copy *c = d->copy;

	if (rc < 0)
		return -1;
	if (d->broken)
		return inis_fail_copy(err, &d->err);
	if (rc == CLI_EXEC_STOPPED)
		return COPY_STOPPED;
	if (copy_check_remote(c, exit_code, err) < 0)
		return -1;
	if (d->unpack)
		return inis_tree_unpack_end(d->unpack, err);
	return tar_read_all(&d->reader) && d->file ? COPY_DONE
						   : inis_fail(err, INIS_UNAVAILABLE, "not all of the file came");
}

static int receive(struct download *d, struct inis_error *err)
{
	struct copy *c = d->copy;
	const char *args[64] = {"pack", c->remote};
	size_t n = 2;
	int exit_code = 0, rc;

	for (const char *const *pattern = c->exclude; pattern && *pattern; pattern++) {
		if (n == sizeof(args) / sizeof(args[0]) - 1)
			return inis_fail(err, INIS_BAD_REQUEST, "too many patterns to exclude");
		args[n++] = *pattern;
	}
	rc = copy_run(c, args, -1, on_output, d, &exit_code, err);
	return finish(d, rc, exit_code, err);
}

static int download_tree(struct copy *c, struct inis_error *err)
{
	struct download d = {.copy = c, .err = INIS_ERROR_INIT};
	struct inis_tree_place place;
	int rc = inis_tree_place(c->local, copy_is_contents(c->remote), &place, err);

	if (rc == 0)
		d.unpack = inis_tree_unpack_new(&place, &c->report, err);
	close_fd(&place.dir);
	rc = d.unpack ? receive(&d, err) : -1;
	inis_tree_unpack_free(d.unpack);
	return rc;
}

static int download_stdout(struct copy *c, struct inis_error *err)
{
	static const struct tar_handler handler = {.entry = on_entry, .data = on_content, .entry_end = on_entry_end};
	struct download d = {.copy = c, .err = INIS_ERROR_INIT};
	int rc;

	tar_reader_init(&d.reader, &handler, &d);
	rc = receive(&d, err);
	tar_reader_free(&d.reader);
	return rc;
}

int copy_down(struct copy *c, struct inis_error *err)
{
	return strcmp(c->local, "-") == 0 ? download_stdout(c, err) : download_tree(c, err);
}
