/* SPDX-License-Identifier: Apache-2.0
 *
 * write.c - writing a file: under a temporary name in the same directory, renamed when all of it is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/channel.h"
#include "agent/files/failure.h"
#include "agent/files/files.h"
#include "agent/files/path.h"
#include "agent/input.h"
#include "agent/link.h"
#include "agent/request.h"
#include "agent/user.h"
#include "base/cleanup.h"

#define TEMP_RANDOM 12

struct file_writer {
	struct channel channel;
	struct place place;
	char temp[sizeof(".inis-") + TEMP_RANDOM];
	int fd; /* of the temporary file */
	mode_t mode;
	uint64_t announced; /* UINT64_MAX: unknown */
	uint64_t taken;
	char *path; /* as asked for, for messages */
};

static void writer_free(struct file_writer *w)
{
	channel_close(&w->channel);
	if (w->fd >= 0) {
		guest_rights_enter();
		unlinkat(w->place.dir, w->temp, 0);
		guest_rights_leave();
		close_fd(&w->fd);
	}
	place_close(&w->place);
	free(w->path);
	free(w);
}

static void writer_gone(struct channel *ch, enum channel_end how)
{
	(void)how;
	writer_free(container_of(ch, struct file_writer, channel));
}

static struct inis_str path_of(const struct file_writer *w)
{
	return (struct inis_str){w->path, strlen(w->path)};
}

static int write_all(struct file_writer *w, const uint8_t *data, size_t n, struct inis_error *err)
{
	while (n > 0) {
		ssize_t written = write(w->fd, data, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return file_fail(err, written < 0 ? errno : ENOSPC, path_of(w));
		data += written;
		n -= (size_t)written;
		w->taken += (size_t)written;
	}
	return 0;
}

static int commit(struct file_writer *w, struct stat *st, struct inis_error *err)
{
	int rc;

	if (w->announced != UINT64_MAX && w->announced != w->taken)
		return inis_fail(err, INIS_BAD_REQUEST, "%.200s: not all of the content arrived", w->path);
	guest_rights_enter();
	rc = fchmod(w->fd, w->mode) < 0 || renameat(w->place.dir, w->temp, w->place.dir, w->place.name) < 0 ||
	     fstat(w->fd, st) < 0;
	guest_rights_leave();
	if (rc)
		return file_fail(err, errno, path_of(w));
	close_fd(&w->fd);
	return 0;
}

static int writer_frame(struct channel *ch, const struct inis_frame *f, struct inis_error *err)
{
	struct file_writer *w = container_of(ch, struct file_writer, channel);
	const uint8_t *data;
	struct stat st;
	size_t n;

	if (f->type != INIS_F_STDIN)
		return request_malformed(err);
	if (input_split(f, w->taken, &data, &n, err) < 0 || write_all(w, data, n, err) < 0)
		return -1;
	if (!(f->flags & INIS_FRAME_EOF)) {
		link_send_stdin_ack(ch->id, w->taken, false);
		return 0;
	}
	if (commit(w, &st, err) < 0)
		return -1;
	file_send_info(ch->id, &st);
	writer_free(w);
	return 0;
}

static bool writer_pump(struct channel *ch)
{
	(void)ch;
	return false;
}

static const struct channel_ops writer_ops = {writer_frame, writer_pump, writer_gone};

/* What is there may be replaced: by the guest's rights on the file itself, not only on its directory. */
static int check_target(struct file_writer *w, uint32_t mode, struct inis_error *err)
{
	struct stat st;

	w->mode = mode ? mode : 0644;
	if (!w->place.name[0])
		return file_fail(err, EISDIR, path_of(w));
	if (fstatat(w->place.dir, w->place.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : file_fail(err, errno, path_of(w));
	if (S_ISDIR(st.st_mode))
		return file_fail(err, EISDIR, path_of(w));
	if (!S_ISREG(st.st_mode))
		return file_fail(err, ENXIO, path_of(w));
	if (faccessat(w->place.dir, w->place.name, W_OK, AT_EACCESS) < 0)
		return file_fail(err, errno, path_of(w));
	if (mode == 0)
		w->mode = st.st_mode & 0777;
	return 0;
}

static int begin(struct file_writer *w, const struct inis_file_write *m, struct inis_error *err)
{
	char random[TEMP_RANDOM + 1];

	if (inis_random_text(random, TEMP_RANDOM, err) < 0)
		return -1;
	if (path_place(m->path, true, true, &w->place, err) < 0 || check_target(w, m->mode, err) < 0)
		return -1;
	snprintf(w->temp, sizeof(w->temp), ".inis-%s", random);
	w->fd = openat(w->place.dir, w->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return w->fd < 0 ? file_fail(err, errno, m->path) : 0;
}

int file_write_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_file_write m;
	struct file_writer *w;
	int rc;

	if (inis_file_write_unpack(data, n, &m) < 0)
		return request_malformed(err);
	w = calloc(1, sizeof(*w));
	if (!w)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	channel_init(&w->channel);
	w->place.dir = w->fd = -1;
	w->announced = m.size;
	w->path = inis_str_dup(m.path);
	if (!w->path) {
		writer_free(w);
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	}
	guest_rights_enter();
	rc = begin(w, &m, err);
	guest_rights_leave();
	if (rc < 0 || channel_open(&w->channel, channel, &writer_ops, err) < 0) {
		writer_free(w);
		return -1;
	}
	link_send_stdin_ack(channel, 0, false);
	return 0;
}
