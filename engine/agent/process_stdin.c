/* SPDX-License-Identifier: Apache-2.0
 *
 * process_stdin.c - writing to a named process.
 *
 * Writers take turns: the bytes of one request are never mixed with those of another. The next begins when the one
 * before has ended its stream or released its channel.
 */
#include <stdlib.h>

#include "agent/channel.h"
#include "agent/link.h"
#include "agent/process.h"
#include "agent/request.h"

struct writer {
	struct list node;
	struct channel channel;
	struct process *process;
	struct input input;
};

static int closed(const struct process *p, struct inis_error *err)
{
	if (!task_live(&p->task))
		return inis_fail(err, INIS_CONFLICT, "process \"%s\" has exited", p->name);
	if (!p->has_stdin)
		return inis_fail(err, INIS_CONFLICT, "process \"%s\" was started without stdin", p->name);
	return inis_fail(err, INIS_CONFLICT, "stdin of process \"%s\" is closed", p->name);
}

static void writer_free(struct writer *w)
{
	channel_close(&w->channel);
	list_remove(&w->node);
	inis_buf_free(&w->input.pending);
	free(w);
}

static void fail_writers(struct process *p)
{
	struct inis_error err = INIS_ERROR_INIT;

	closed(p, &err);
	list_each (at, &p->writers) {
		struct writer *w = container_of(at, struct writer, node);

		link_send_error(w->channel.id, &err);
		writer_free(w);
	}
}

void process_stdin_end(struct process *p)
{
	inpipe_close(&p->stdin_pipe);
	fail_writers(p);
}

/* Serves writers in order; stops at the first that is not done. */
static void push(struct process *p)
{
	while (!list_empty(&p->writers)) {
		struct writer *w = container_of(p->writers.next, struct writer, node);
		bool moved;

		if (input_push(&w->input, p->stdin_pipe.fd, &moved) < 0) {
			process_stdin_end(p);
			return;
		}
		if (moved)
			link_send_stdin_ack(w->channel.id, w->input.taken, false);
		if (!input_finished(&w->input)) {
			inpipe_want(&p->stdin_pipe, w->input.pending.len > 0);
			return;
		}
		inpipe_close(&p->stdin_pipe);
		link_send_end(w->channel.id, 0);
		writer_free(w);
		fail_writers(p);
	}
	inpipe_want(&p->stdin_pipe, false);
}

void process_stdin_ready(struct inpipe *pipe, bool broken)
{
	struct process *p = container_of(pipe, struct process, stdin_pipe);

	if (broken)
		process_stdin_end(p);
	else
		push(p);
}

static int writer_frame(struct channel *ch, const struct inis_frame *f, struct inis_error *err)
{
	struct writer *w = container_of(ch, struct writer, channel);
	struct process *p = w->process;

	if (f->type != INIS_F_STDIN)
		return request_malformed(err);
	if (input_add(&w->input, f, INIS_AGENT_WINDOW, err) < 0)
		return -1;
	if (p->writers.next == &w->node)
		push(p);
	return 0;
}

static bool writer_pump(struct channel *ch)
{
	(void)ch;
	return false;
}

/* What it had not written yet was not acknowledged either. */
static void writer_gone(struct channel *ch, enum channel_end how)
{
	struct writer *w = container_of(ch, struct writer, channel);
	struct process *p = w->process;

	(void)how;
	writer_free(w);
	if (p->stdin_pipe.fd >= 0)
		push(p);
}

static const struct channel_ops writer_ops = {writer_frame, writer_pump, writer_gone};

int process_stdin_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_unpack u;
	struct inis_str name;
	struct process *p;
	struct writer *w;

	inis_unpack_init(&u, data, n);
	name = inis_unpack_str(&u);
	if (!inis_unpack_ok(&u))
		return request_malformed(err);
	p = process_find(name, err);
	if (!p)
		return -1;
	if (p->stdin_pipe.fd < 0)
		return closed(p, err);
	w = calloc(1, sizeof(*w));
	if (!w)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	channel_init(&w->channel);
	w->process = p;
	list_append(&p->writers, &w->node);
	if (channel_open(&w->channel, channel, &writer_ops, err) < 0) {
		writer_free(w);
		return -1;
	}
	link_send_stdin_ack(channel, 0, false);
	return 0;
}
