/* SPDX-License-Identifier: Apache-2.0
 *
 * input.c - bytes of the client on their way into a command's stdin.
 */
#include "agent/input.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/cleanup.h"
#include "base/pack.h"

int input_split(const struct inis_frame *f, uint64_t expected, const uint8_t **data, size_t *n, struct inis_error *err)
{
	struct inis_unpack u;
	uint64_t offset, known;

	inis_unpack_init(&u, f->payload, f->length);
	offset = inis_unpack_u64(&u);
	if (u.failed || offset > expected)
		return inis_fail(err, INIS_BAD_REQUEST, "input is not in order");
	known = expected - offset;
	if (known > u.left)
		known = u.left;
	*data = u.at + known;
	*n = u.left - (size_t)known;
	return 0;
}

int input_add(struct input *in, const struct inis_frame *f, size_t window, struct inis_error *err)
{
	const uint8_t *data;
	size_t n;

	if (input_split(f, in->taken + in->pending.len, &data, &n, err) < 0)
		return -1;
	if (n > 0 && in->eof)
		return inis_fail(err, INIS_BAD_REQUEST, "input after its end");
	if (n + in->pending.len > window)
		return inis_fail(err, INIS_BAD_REQUEST, "input beyond the window");
	inis_buf_append(&in->pending, data, n);
	if (inis_buf_failed(&in->pending))
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	if (f->flags & INIS_FRAME_EOF)
		in->eof = true;
	return 0;
}

int input_push(struct input *in, int pipe, bool *moved)
{
	ssize_t n;

	*moved = false;
	if (in->pending.len == 0)
		return 0;
	n = write(pipe, in->pending.data, in->pending.len);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	inis_buf_consume(&in->pending, (size_t)n);
	if (in->pending.len == 0)
		inis_buf_free(&in->pending);
	in->taken += (size_t)n;
	*moved = n > 0;
	return 0;
}

static void on_ready(struct inis_watch *w, uint32_t events)
{
	struct inpipe *p = container_of(w, struct inpipe, watch);

	p->ready(p, (events & EPOLLERR) != 0);
}

void inpipe_open(struct inpipe *p, int fd, void (*ready)(struct inpipe *p, bool broken))
{
	*p = (struct inpipe){.watch = INIS_WATCH_INIT(on_ready), .fd = fd, .ready = ready};
	/* EPOLLERR: the last reader has gone. */
	if (inis_watch_start(&agent.events, &p->watch, fd, EPOLLERR, NULL) < 0)
		close_fd(&p->fd);
}

void inpipe_want(struct inpipe *p, bool wanted)
{
	if (p->fd < 0 || p->wanted == wanted)
		return;
	if (inis_watch_change(&agent.events, &p->watch, wanted ? EPOLLOUT : EPOLLERR, NULL) == 0)
		p->wanted = wanted;
}

void inpipe_close(struct inpipe *p)
{
	if (p->fd < 0)
		return;
	inis_watch_stop(&agent.events, &p->watch);
	close_fd(&p->fd);
}
