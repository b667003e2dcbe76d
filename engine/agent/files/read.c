/* SPDX-License-Identifier: Apache-2.0
 *
 * read.c - reading a file, or a range of it.
 *
 * What is sent is at most what the file held when it was opened: one that grows meanwhile does not go on for ever.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/channel.h"
#include "agent/files/failure.h"
#include "agent/files/files.h"
#include "agent/files/path.h"
#include "agent/link.h"
#include "agent/request.h"
#include "agent/user.h"
#include "base/cleanup.h"

struct reader {
	struct channel channel;
	int fd;
	uint64_t from; /* in the file */
	uint64_t length;
	uint64_t sent; /* of length; the stream's offset */
	uint64_t acked;
};

static void reader_free(struct reader *r)
{
	channel_close(&r->channel);
	close_fd(&r->fd);
	free(r);
}

static void reader_gone(struct channel *ch, enum channel_end how)
{
	(void)how;
	reader_free(container_of(ch, struct reader, channel));
}

static size_t allowance(const struct reader *r)
{
	uint64_t left = r->length - r->sent;
	uint64_t window = r->acked + link_window() - r->sent;

	if (left > window)
		left = window;
	return left > LINK_CHUNK ? LINK_CHUNK : (size_t)left;
}

static bool end(struct reader *r, const struct inis_error *err)
{
	if (err)
		link_send_error(r->channel.id, err);
	else
		link_send_end(r->channel.id, 0);
	reader_free(r);
	return false;
}

static bool reader_pump(struct channel *ch)
{
	struct reader *r = container_of(ch, struct reader, channel);
	struct inis_error err = INIS_ERROR_INIT;
	size_t max = allowance(r);
	ssize_t n;

	if (r->sent == r->length)
		return end(r, NULL);
	if (max == 0)
		return false;
	n = pread(r->fd, agent_scratch, max, (off_t)(r->from + r->sent));
	if (n < 0) {
		inis_fail_errno(&err, "read");
		return end(r, &err);
	}
	if (n == 0)
		return end(r, NULL);
	link_send_stream(ch->id, INIS_F_OUT, r->sent, agent_scratch, (size_t)n);
	r->sent += (size_t)n;
	return true;
}

static int reader_frame(struct channel *ch, const struct inis_frame *f, struct inis_error *err)
{
	struct reader *r = container_of(ch, struct reader, channel);
	struct inis_unpack u;
	uint64_t out;

	inis_unpack_init(&u, f->payload, f->length);
	out = inis_unpack_u64(&u);
	inis_unpack_u64(&u);
	if (f->type != INIS_F_ACK || !inis_unpack_ok(&u) || out > r->sent)
		return request_malformed(err);
	if (out > r->acked)
		r->acked = out;
	channel_ready(ch);
	return 0;
}

static const struct channel_ops reader_ops = {reader_frame, reader_pump, reader_gone};

static int open_regular(struct inis_str path, struct stat *st, struct inis_error *err)
{
	/* Never waits: not for the other end of a FIFO, not for a device. */
	cleanup_close int fd = path_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, err);

	if (fd < 0)
		return -1;
	if (fstat(fd, st) < 0)
		return file_fail(err, errno, path);
	if (S_ISDIR(st->st_mode))
		return file_fail(err, EISDIR, path);
	if (!S_ISREG(st->st_mode))
		return file_fail(err, ENXIO, path);
	return take_fd(&fd);
}

static uint64_t range(const struct stat *st, uint64_t from, uint64_t length)
{
	uint64_t size = (uint64_t)st->st_size;

	if (from >= size)
		return 0;
	return length < size - from ? length : size - from;
}

int file_read_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	cleanup_free struct reader *r = calloc(1, sizeof(*r));
	struct inis_unpack u;
	struct inis_str path;
	struct stat st;
	uint64_t length;

	if (!r)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	inis_unpack_init(&u, data, n);
	path = inis_unpack_str(&u);
	r->from = inis_unpack_u64(&u);
	length = inis_unpack_u64(&u);
	if (!inis_unpack_ok(&u))
		return request_malformed(err);
	guest_rights_enter();
	r->fd = open_regular(path, &st, err);
	guest_rights_leave();
	if (r->fd < 0)
		return -1;
	r->length = range(&st, r->from, length);
	channel_init(&r->channel);
	if (channel_open(&r->channel, channel, &reader_ops, err) < 0) {
		close(r->fd);
		return -1;
	}
	file_send_info(channel, &st);
	channel_ready(&r->channel);
	take_ptr(r);
	return 0;
}
