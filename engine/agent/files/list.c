/* SPDX-License-Identifier: Apache-2.0
 *
 * list.c - the entries of a directory, in its own order, names byte for byte.
 *
 * An entry never crosses a frame.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/channel.h"
#include "agent/files/failure.h"
#include "agent/files/files.h"
#include "agent/files/path.h"
#include "agent/link.h"
#include "agent/request.h"
#include "agent/user.h"
#include "base/cleanup.h"

#define DENTS_SIZE 8192
#define ENTRY_MAX  (1 + 4 + 255)

struct lister {
	struct channel channel;
	int fd;
	uint64_t sent;
	uint64_t acked;
	uint64_t left; /* entries that may still be sent */
	size_t at; /* in dents */
	size_t len;
	char dents[DENTS_SIZE] __attribute__((aligned(8)));
};

static void lister_free(struct lister *l)
{
	channel_close(&l->channel);
	close_fd(&l->fd);
	free(l);
}

static void lister_gone(struct channel *ch, enum channel_end how)
{
	(void)how;
	lister_free(container_of(ch, struct lister, channel));
}

/* The next entry, NULL at the end; -1 in *failed when the directory cannot be read. */
static const struct dirent64 *next_entry(struct lister *l, int *failed)
{
	*failed = 0;
	for (;;) {
		const struct dirent64 *d;

		if (l->at >= l->len) {
			ssize_t n = getdents64(l->fd, l->dents, sizeof(l->dents));

			if (n <= 0) {
				*failed = n < 0 ? -1 : 0;
				return NULL;
			}
			l->at = 0;
			l->len = (size_t)n;
		}
		d = (const void *)(l->dents + l->at);
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			return d;
		l->at += d->d_reclen;
	}
}

static enum inis_file_type type_of(const struct lister *l, const struct dirent64 *d)
{
	struct stat st;

	switch (d->d_type) {
	case DT_REG:
		return INIS_FILE_REGULAR;
	case DT_DIR:
		return INIS_FILE_DIRECTORY;
	case DT_LNK:
		return INIS_FILE_SYMLINK;
	case DT_UNKNOWN:
		if (fstatat(l->fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
			return INIS_FILE_DIRECTORY;
		return INIS_FILE_REGULAR;
	default:
		return INIS_FILE_OTHER;
	}
}

static void send_entries(struct lister *l, const struct inis_buf *b)
{
	if (b->len == 0)
		return;
	link_send_stream(l->channel.id, INIS_F_OUT, l->sent, b->data, b->len);
	l->sent += b->len;
}

static bool end(struct lister *l, bool truncated)
{
	link_send_end(l->channel.id, truncated ? INIS_END_TRUNCATED : 0);
	lister_free(l);
	return false;
}

static bool fail(struct lister *l)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail_errno(&err, "read directory");
	link_send_error(l->channel.id, &err);
	lister_free(l);
	return false;
}

static bool lister_pump(struct channel *ch)
{
	struct lister *l = container_of(ch, struct lister, channel);
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(LINK_CHUNK);
	uint64_t window = l->acked + link_window() - l->sent;
	const struct dirent64 *d = NULL;
	bool ended = false, truncated = false;
	int failed = 0;

	while (!ended && b.len + ENTRY_MAX <= LINK_CHUNK && b.len + ENTRY_MAX <= window) {
		d = next_entry(l, &failed);
		truncated = d && l->left == 0;
		ended = !d || truncated;
		if (ended)
			break;
		inis_pack_u8(&b, (uint8_t)type_of(l, d));
		inis_pack_cstr(&b, d->d_name);
		l->at += d->d_reclen;
		l->left--;
	}
	if (b.failed || failed)
		return fail(l);
	send_entries(l, &b);
	if (ended)
		return end(l, truncated);
	/* Else the window is full: an acknowledgement goes on. */
	return b.len > 0;
}

static int lister_frame(struct channel *ch, const struct inis_frame *f, struct inis_error *err)
{
	struct lister *l = container_of(ch, struct lister, channel);
	struct inis_unpack u;
	uint64_t out;

	inis_unpack_init(&u, f->payload, f->length);
	out = inis_unpack_u64(&u);
	inis_unpack_u64(&u);
	if (f->type != INIS_F_ACK || !inis_unpack_ok(&u) || out > l->sent)
		return request_malformed(err);
	if (out > l->acked)
		l->acked = out;
	channel_ready(ch);
	return 0;
}

static const struct channel_ops lister_ops = {lister_frame, lister_pump, lister_gone};

int file_list_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	cleanup_free struct lister *l = calloc(1, sizeof(*l));
	struct inis_unpack u;
	struct inis_str path;

	if (!l)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	inis_unpack_init(&u, data, n);
	path = inis_unpack_str(&u);
	l->left = inis_unpack_u32(&u);
	if (!inis_unpack_ok(&u))
		return request_malformed(err);
	if (l->left == 0)
		l->left = UINT64_MAX;
	guest_rights_enter();
	l->fd = path_open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, err);
	guest_rights_leave();
	if (l->fd < 0)
		return -1;
	channel_init(&l->channel);
	if (channel_open(&l->channel, channel, &lister_ops, err) < 0) {
		close(l->fd);
		return -1;
	}
	channel_ready(&l->channel);
	take_ptr(l);
	return 0;
}
