/* SPDX-License-Identifier: Apache-2.0
 *
 * ended_logs.c - the log of a process of a session that has ended.
 *
 * The names of its segments say what there is; their bytes are read a piece at a time. What is missing between
 * segments, or has been removed meanwhile, is passed over as the agent does.
 */
#include <stdlib.h>
#include <string.h>

#include "api/ended.h"
#include "api/handlers.h"
#include "api/process_json.h"
#include "api/process_logs.h"
#include "wire/spool_proto.h"

#define PIECE (256 * 1024) /* as much is read at a time */

static const struct inis_error no_memory = {.code = INIS_UNAVAILABLE, .message = "out of memory"};

struct segment {
	struct inis_kept_file file;
	uint64_t start;
	bool is_err;
};

struct kept_log {
	struct segment *segments; /* by offset */
	size_t count;
	uint64_t total[AGENT_STREAM_COUNT]; /* bytes the process had written when it ended; 0: not known */
	uint64_t end[AGENT_STREAM_COUNT];
	enum agent_stream stream; /* the one being read */
	const struct segment *reading;
};

void ended_logs_free(struct logs *l)
{
	if (l->kept)
		free(l->kept->segments);
	free(l->kept);
}

/* ---- pieces ---- */

static void next_piece(struct logs *l);

static void on_room(struct http_request *rq, void *ctx)
{
	struct logs *l = ctx;

	(void)rq;
	l->op.parked = false;
	next_piece(l);
}

static void skip_to(struct logs *l, uint64_t offset)
{
	l->at[l->kept->stream] = offset;
	l->truncated = true;
}

static void on_piece(void *ctx, const uint8_t *data, size_t n, const struct inis_error *err)
{
	struct logs *l = ctx;
	struct kept_log *k = l->kept;
	uint64_t at = l->at[k->stream];
	bool room = true;

	if (ended_left(&l->op))
		return;
	if (err || n == 0) {
		skip_to(l, k->reading->start + k->reading->file.size);
	} else if (l->follow) {
		room = logs_send(l, k->stream, at, data, n);
	} else {
		logs_take(l, k->stream, data, n);
		l->at[k->stream] = at + n;
	}
	l->op.parked = !room;
	if (room)
		next_piece(l);
}

/* The segment that holds the next byte, or the first one after it. */
static const struct segment *next_segment(const struct kept_log *k, uint64_t at)
{
	for (size_t i = 0; i < k->count; i++) {
		const struct segment *s = &k->segments[i];

		if (s->is_err == (k->stream == AGENT_ERR) && s->start + s->file.size > at)
			return s;
	}
	return NULL;
}

static void read_piece(struct logs *l, const struct segment *s)
{
	struct inis_error err = INIS_ERROR_INIT;
	uint64_t at = l->at[l->kept->stream];
	uint64_t left = s->start + s->file.size - at;

	l->kept->reading = s;
	if (inis_kept_read(api_of(l->op.rq)->kept, &l->op.session->id, s->file.name, at - s->start,
			   left < PIECE ? (size_t)left : PIECE, on_piece, l, &err) == 0)
		return;
	if (l->streaming) {
		http_stream_end(l->op.rq, false);
		op_end(&l->op);
	} else {
		op_fail(&l->op, &err);
	}
}

static void next_piece(struct logs *l)
{
	struct kept_log *k = l->kept;
	const struct segment *s = next_segment(k, l->at[k->stream]);

	if (!s && k->stream == AGENT_OUT) {
		k->stream = AGENT_ERR;
		s = next_segment(k, l->at[k->stream]);
	}
	if (s) {
		if (s->start > l->at[k->stream])
			skip_to(l, s->start);
		read_piece(l, s);
	} else if (l->follow) {
		logs_eof(l);
	} else {
		logs_answer(l);
	}
}

/* ---- where to begin ---- */

static int by_offset(const void *a, const void *b)
{
	const struct segment *x = a;
	const struct segment *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int take_segments(struct kept_log *k, const char *process, const struct ended_kept *kept)
{
	const struct inis_kept_file *files = kept->files;

	k->segments = calloc(kept->count + 1, sizeof(*k->segments));
	if (!k->segments)
		return -1;
	for (size_t i = 0; i < kept->count; i++) {
		struct inis_spool_name name;
		enum agent_stream stream;

		if (!inis_spool_name_parse(files[i].name, &name) || strcmp(name.process, process) != 0 ||
		    files[i].size > INIS_SPOOL_SEGMENT)
			continue;
		stream = name.is_err ? AGENT_ERR : AGENT_OUT;
		k->segments[k->count++] =
			(struct segment){.file = files[i], .start = name.start, .is_err = name.is_err};
		if (name.start + files[i].size > k->end[stream])
			k->end[stream] = name.start + files[i].size;
	}
	qsort(k->segments, k->count, sizeof(*k->segments), by_offset);
	return 0;
}

/* As the agent places a reader. */
static void place(struct logs *l, enum agent_stream stream)
{
	struct kept_log *k = l->kept;
	const struct segment *s;
	uint64_t from = (uint64_t)l->from[stream];
	uint64_t end = k->end[stream] > k->total[stream] ? k->end[stream] : k->total[stream];
	uint64_t first;

	k->stream = stream;
	s = next_segment(k, 0);
	first = s ? s->start : end;
	if (!l->follow && end - first > ENCODE_CAP)
		first = end - ENCODE_CAP;
	l->truncated |= from < first;
	l->at[stream] = l->first[stream] = from > first ? from : first;
}

static void begin(struct op *op, const struct ended_kept *kept)
{
	struct logs *l = (struct logs *)op;
	struct inis_proc_info p;

	if (!ended_find(kept, http_param(op->rq, "name"), &p)) {
		process_missing(op);
		return;
	}
	l->kept->total[AGENT_OUT] = p.running ? 0 : p.exit.out_total;
	l->kept->total[AGENT_ERR] = p.running ? 0 : p.exit.err_total;
	inis_proc_info_free(&p);
	if (take_segments(l->kept, http_param(op->rq, "name"), kept) < 0) {
		op_fail(op, &no_memory);
		return;
	}
	place(l, AGENT_ERR);
	place(l, AGENT_OUT);
	if (l->follow) {
		l->streaming = true;
		http_sse_begin(op->rq, on_room);
	}
	next_piece(l);
}

void ended_logs(struct op *op)
{
	struct logs *l = (struct logs *)op;

	l->kept = calloc(1, sizeof(*l->kept));
	if (l->kept)
		ended_read(op, begin);
	else
		op_fail(op, &no_memory);
}
