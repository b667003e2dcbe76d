/* SPDX-License-Identifier: Apache-2.0
 *
 * outpipe.c - the reading end of a command's output.
 */
#include "agent/outpipe.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/cleanup.h"

/* More than a terminal holds; bounds what something in the background can add while it is emptied. */
#define TERMINAL_REST 65536

/* A pipe that has lost its owner. */
struct sink {
	struct inis_watch watch;
	int fd;
};

static void on_sink(struct inis_watch *w, uint32_t events)
{
	struct sink *s = container_of(w, struct sink, watch);
	ssize_t n = read(s->fd, agent_scratch, sizeof(agent_scratch));

	(void)events;
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	inis_watch_stop(&agent.events, w);
	close(s->fd);
	free(s);
}

static void discard(int fd)
{
	struct sink *s = malloc(sizeof(*s));

	if (s) {
		*s = (struct sink){.watch = INIS_WATCH_INIT(on_sink), .fd = fd};
		if (inis_watch_start(&agent.events, &s->watch, fd, EPOLLIN, NULL) == 0)
			return;
	}
	free(s);
	close(fd);
}

static void done(struct outpipe *p, bool ended)
{
	inis_watch_stop(&agent.events, &p->watch);
	if (ended || p->terminal)
		close_fd(&p->fd);
	else
		discard(take_fd(&p->fd));
	p->ops->done(p);
}

/* Reads once. false: no more now (then done() may have been called). */
static bool read_once(struct outpipe *p)
{
	size_t room = p->ops->room(p);
	ssize_t n;

	if (p->finishing && room > p->left)
		room = p->left;
	if (room > sizeof(agent_scratch))
		room = sizeof(agent_scratch);
	if (room == 0) {
		inis_watch_stop(&agent.events, &p->watch);
		return false;
	}
	n = read(p->fd, agent_scratch, room);
	if (n < 0 && (errno == EAGAIN || errno == EINTR) && !(p->terminal && p->finishing))
		return false;
	if (n <= 0) {
		done(p, true);
		return false;
	}
	p->ops->data(p, agent_scratch, (size_t)n);
	if (!p->finishing)
		return true;
	p->left -= (size_t)n;
	if (p->left > 0)
		return true;
	done(p, false);
	return false;
}

static void on_ready(struct inis_watch *w, uint32_t events)
{
	(void)events;
	read_once(container_of(w, struct outpipe, watch));
}

void outpipe_open(struct outpipe *p, int fd, const struct outpipe_ops *ops)
{
	*p = (struct outpipe){.watch = INIS_WATCH_INIT(on_ready), .fd = fd, .ops = ops};
	outpipe_resume(p);
}

void outpipe_open_terminal(struct outpipe *p, int fd, const struct outpipe_ops *ops)
{
	outpipe_open(p, fd, ops);
	p->terminal = true;
}

void outpipe_resume(struct outpipe *p)
{
	if (p->fd < 0 || p->watch.fd >= 0 || p->ops->room(p) == 0)
		return;
	/* An empty terminal never becomes ready. */
	if (p->terminal && p->finishing)
		while (read_once(p))
			;
	else
		inis_watch_start(&agent.events, &p->watch, p->fd, EPOLLIN, NULL);
}

void outpipe_finish(struct outpipe *p)
{
	int waiting = 0;

	if (p->fd < 0 || p->finishing)
		return;
	p->finishing = true;
	if (p->terminal) {
		p->left = TERMINAL_REST;
		while (read_once(p))
			;
		return;
	}
	if (ioctl(p->fd, FIONREAD, &waiting) < 0 || waiting <= 0) {
		done(p, false);
		return;
	}
	p->left = (size_t)waiting;
	while (read_once(p))
		;
}

void outpipe_abandon(struct outpipe *p)
{
	if (p->fd < 0)
		return;
	inis_watch_stop(&agent.events, &p->watch);
	if (p->terminal)
		close_fd(&p->fd);
	else
		discard(take_fd(&p->fd));
}
