/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_up.c - from this machine into a session.
 *
 * A thread packs the tree into a pipe, and the pipe is the input of the program in the session.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/copy.h"
#include "cli/exec_stream.h"
#include "os/fd.h"

struct packer {
	struct copy *copy;
	struct inis_tree_report report;
	struct inis_error err;
	int pipe; /* to write to; -1: all is written */
	int rc;
};

static int on_output(void *ctx, int fd, const uint8_t *data, size_t n)
{
	if (fd == 2)
		copy_take_notes(ctx, data, n);
	return 0;
}

static int write_pipe(void *ctx, const void *data, size_t n)
{
	struct packer *p = ctx;

	p->copy->carried += n;
	return inis_write_all(p->pipe, data, n, NULL);
}

static void *pack(void *ctx)
{
	struct packer *p = ctx;
	const struct inis_tree_pack how = {.write = write_pipe, .ctx = p, .exclude = p->copy->exclude};

	p->rc = inis_tree_pack(&how, p->copy->local, &p->report, &p->err);
	close_fd(&p->pipe);
	return NULL;
}

/* Both ends of the work, one in a thread of its own. */
static int send_tree(struct copy *c, struct packer *p, const char *const args[], int *exit_code, struct inis_error *err)
{
	int ends[2], rc;
	pthread_t thread;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return inis_fail_errno(err, "cannot make a pipe");
	p->pipe = ends[1];
	if (pthread_create(&thread, NULL, pack, p) != 0) {
		close(ends[0]);
		close(ends[1]);
		return inis_fail(err, INIS_UNAVAILABLE, "cannot start a thread");
	}
	rc = copy_run(c, args, ends[0], on_output, c, exit_code, err);
	/* A packer that still writes finds that nobody reads. */
	close(ends[0]);
	pthread_join(thread, NULL);
	return rc;
}

/* The thread has notes of its own, which are told when it is done. */
static void add_report(struct copy *c, const struct inis_tree_report *of)
{
	c->report.files += of->files;
	c->report.directories += of->directories;
	c->report.links += of->links;
	c->report.bytes += of->bytes;
	c->report.left_out += of->left_out;
	c->report.failed += of->failed;
}

static int upload_tree(struct copy *c, struct inis_error *err)
{
	bool contents = copy_is_contents(c->local);
	const char *args[] = {"unpack", contents ? "--contents" : c->remote, contents ? c->remote : NULL, NULL};
	struct packer p = {.copy = c, .err = INIS_ERROR_INIT, .report = {.note = c->report.note, .ctx = c}};
	int exit_code = 0, rc;

	rc = send_tree(c, &p, args, &exit_code, err);
	add_report(c, &p.report);
	if (rc != CLI_EXEC_ENDED)
		return rc == CLI_EXEC_STOPPED ? COPY_STOPPED : -1;
	/* A packer whose reader has ended early only repeats that. */
	if (p.rc < 0 && exit_code == 0)
		return inis_fail_copy(err, &p.err);
	return copy_check_remote(c, exit_code, err);
}

static int upload_stdin(struct copy *c, struct inis_error *err)
{
	const char *const args[] = {"put", c->remote, "", NULL};
	int exit_code = 0;
	int rc = copy_run(c, args, 0, on_output, c, &exit_code, err);

	if (rc != CLI_EXEC_ENDED)
		return rc == CLI_EXEC_STOPPED ? COPY_STOPPED : -1;
	if (exit_code == 0)
		c->report.files++;
	return copy_check_remote(c, exit_code, err);
}

int copy_up(struct copy *c, struct inis_error *err)
{
	struct stat st;

	if (strcmp(c->local, "-") == 0)
		return upload_stdin(c, err);
	if (stat(c->local, &st) < 0)
		return inis_fail_errno(err, "%s", c->local);
	if (copy_is_contents(c->local) && !S_ISDIR(st.st_mode))
		return inis_fail(err, INIS_BAD_REQUEST, "%s is not a directory", c->local);
	return upload_tree(c, err);
}
