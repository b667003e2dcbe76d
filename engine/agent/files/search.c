/* SPDX-License-Identifier: Apache-2.0
 *
 * search.c - find and grep: requests, carried out by a program of the guest.
 *
 * The program is the agent's own, run again like any command: as the guest user, in a cgroup of its own, with a time
 * limit. What it says is passed on unread, so that nothing of the guest's files is parsed here. It may be killed, or
 * made to lie, by other processes of the guest: the answer is then what it was, about the guest's own files.
 */
#include <stdlib.h>

#include "agent/agent.h"
#include "agent/channel.h"
#include "agent/files/files.h"
#include "agent/link.h"
#include "agent/outbuf.h"
#include "agent/outpipe.h"
#include "agent/request.h"
#include "agent/search/search.h"
#include "agent/spawn.h"
#include "agent/task.h"
#include "base/cleanup.h"
#include "wire/search_proto.h"

#define SEARCHES_MAX  8
#define COMPLAINT_MAX 2048
/* The program looks at the clock itself; this is for one that cannot any more. */
#define OVERTIME_MS   2000

struct searcher {
	struct channel channel;
	struct task task;
	struct outpipe out;
	struct outpipe err;
	struct outbuf found;
	struct inis_buf complaint;
	bool forgotten; /* nobody waits for the answer */
	bool lost; /* for want of memory, some of the output */
};

static unsigned running;

static void searcher_free(struct searcher *s)
{
	channel_close(&s->channel);
	outpipe_abandon(&s->out);
	outpipe_abandon(&s->err);
	outbuf_free(&s->found);
	inis_buf_free(&s->complaint);
	running--;
	free(s);
}

/* ---- its output ---- */

static size_t out_room(struct outpipe *p)
{
	return outbuf_room(&container_of(p, struct searcher, out)->found, link_window());
}

static void on_out(struct outpipe *p, const void *data, size_t n)
{
	struct searcher *s = container_of(p, struct searcher, out);

	s->lost |= !outbuf_append(&s->found, data, n);
	channel_ready(&s->channel);
}

static void on_out_done(struct outpipe *p)
{
	channel_ready(&container_of(p, struct searcher, out)->channel);
}

static const struct outpipe_ops out_ops = {out_room, on_out, on_out_done};

static size_t err_room(struct outpipe *p)
{
	(void)p;
	return AGENT_SCRATCH;
}

static void on_err(struct outpipe *p, const void *data, size_t n)
{
	inis_buf_append(&container_of(p, struct searcher, err)->complaint, data, n);
}

static void on_err_done(struct outpipe *p)
{
	channel_ready(&container_of(p, struct searcher, err)->channel);
}

static const struct outpipe_ops err_ops = {err_room, on_err, on_err_done};

/* ---- its end ---- */

static void answer_failure(struct searcher *s)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (inis_buf_failed(&s->complaint) || inis_wire_error_unpack(s->complaint.data, s->complaint.len, &err) < 0 ||
	    err.code == INIS_OK)
		inis_fail(&err, INIS_UNAVAILABLE, "the search was ended%s", s->task.oom ? ": out of memory" : "");
	link_send_error(s->channel.id, &err);
}

static void answer(struct searcher *s)
{
	struct inis_exited e = {0};

	task_exited(&s->task, &e);
	if (s->lost)
		answer_failure(s);
	else if (e.exit_code == SEARCH_WHOLE)
		link_send_end(s->channel.id, 0);
	else if (e.exit_code == SEARCH_CUT || s->task.timed_out)
		link_send_end(s->channel.id, INIS_END_TRUNCATED);
	else
		answer_failure(s);
}

static bool searcher_pump(struct channel *ch)
{
	struct searcher *s = container_of(ch, struct searcher, channel);
	const uint8_t *data;
	size_t n = outbuf_next(&s->found, link_window(), LINK_CHUNK, &data);

	if (n > 0) {
		link_send_stream(ch->id, INIS_F_OUT, s->found.sent, data, n);
		outbuf_mark_sent(&s->found, n);
		return true;
	}
	if (s->task.stage == TASK_OVER && s->out.fd < 0 && s->err.fd < 0 && s->found.sent == outbuf_end(&s->found)) {
		answer(s);
		searcher_free(s);
	}
	return false;
}

static int searcher_frame(struct channel *ch, const struct inis_frame *f, struct inis_error *err)
{
	struct searcher *s = container_of(ch, struct searcher, channel);
	struct inis_unpack u;
	uint64_t out;

	inis_unpack_init(&u, f->payload, f->length);
	out = inis_unpack_u64(&u);
	inis_unpack_u64(&u);
	if (f->type != INIS_F_ACK || !inis_unpack_ok(&u) || !outbuf_ack(&s->found, out))
		return request_malformed(err);
	outpipe_resume(&s->out);
	channel_ready(ch);
	return 0;
}

static void searcher_gone(struct channel *ch, enum channel_end how)
{
	struct searcher *s = container_of(ch, struct searcher, channel);

	(void)how;
	channel_close(ch);
	if (!task_live(&s->task)) {
		searcher_free(s);
		return;
	}
	s->forgotten = true;
	outpipe_abandon(&s->out);
	outpipe_abandon(&s->err);
	task_kill(&s->task, 0);
}

static const struct channel_ops searcher_ops = {searcher_frame, searcher_pump, searcher_gone};

static void on_over(struct task *t)
{
	struct searcher *s = container_of(t, struct searcher, task);

	if (s->forgotten) {
		searcher_free(s);
		return;
	}
	outpipe_finish(&s->out);
	outpipe_finish(&s->err);
	channel_ready(&s->channel);
}

/* ---- its start ---- */

static int start(struct spawned *child, const char *verb, const struct inis_search *want, struct inis_error *err)
{
	struct search_args args;
	struct inis_exec m = {
		.cwd = {"/", 1},
		.argc = SEARCH_ARGC,
		.argv = args.argv,
	};

	search_args(&args, "/proc/self/exe", verb, want);
	return spawn(&m, child, err);
}

static int request(uint32_t channel, const char *verb, const void *data, size_t n, struct inis_error *err)
{
	cleanup_free struct searcher *s = calloc(1, sizeof(*s));
	struct inis_search want;
	struct spawned child;

	if (!s)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	if (inis_search_unpack(data, n, &want) < 0)
		return request_malformed(err);
	if (running >= SEARCHES_MAX)
		return inis_fail(err, INIS_UNAVAILABLE, "too many searches at once in this session");
	channel_init(&s->channel);
	if (channel_open(&s->channel, channel, &searcher_ops, err) < 0)
		return -1;
	if (start(&child, verb, &want, err) < 0) {
		channel_close(&s->channel);
		return -1;
	}
	s->complaint.max = COMPLAINT_MAX;
	running++;
	task_start(&s->task, &child, want.budget_ms + OVERTIME_MS, on_over);
	outpipe_open(&s->out, child.out, &out_ops);
	outpipe_open(&s->err, child.err, &err_ops);
	take_ptr(s);
	return 0;
}

int file_find_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	return request(channel, "find", data, n, err);
}

int file_grep_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	return request(channel, "grep", data, n, err);
}
