/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_json.c - how a command ended, as members of an answer.
 */
#include "api/exec_json.h"

#include "api/encode.h"
#include "api/fields.h"

void exec_json_keep(struct inis_buf *b, size_t cap, const uint8_t *data, size_t n)
{
	size_t room = cap - b->len;

	inis_buf_append(b, data, n < room ? n : room);
}

static void put_output(struct object *o, struct inis_buf *b, const char *name, const char *encoding, bool cut)
{
	if (cut)
		b->len = encode_trim_end(b->data, b->len);
	encode_stream(o, name, encoding, b->data, b->len);
	o->failed |= inis_buf_failed(b);
}

void exec_json_result(struct object *o, struct inis_buf out[AGENT_STREAM_COUNT], size_t cap,
		      const struct inis_exited *e)
{
	bool out_cut = (e->flags & INIS_EXIT_OUT_CUT) || e->out_total > cap;
	bool err_cut = (e->flags & INIS_EXIT_ERR_CUT) || e->err_total > cap;

	put_output(o, &out[AGENT_OUT], "stdout", "stdout_encoding", out_cut);
	put_output(o, &out[AGENT_ERR], "stderr", "stderr_encoding", err_cut);
	exec_json_exit(o, e);
	object_flag(o, "truncated", out_cut || err_cut);
}

void exec_json_exit(struct object *o, const struct inis_exited *e)
{
	object_int(o, "exit_code", e->exit_code);
	object_bool(o, "timed_out", e->flags & INIS_EXIT_TIMED_OUT);
	object_int(o, "duration_ms", (int64_t)e->duration_ms);
	object_flag(o, "oom", e->flags & INIS_EXIT_OOM);
	exec_json_usage(o, e);
}

/* The guest's side says it: what no JSON number holds exactly is not true anyway. */
static int64_t shown(uint64_t n)
{
	return n < FIELD_INT_MAX ? (int64_t)n : FIELD_INT_MAX;
}

void exec_json_usage(struct object *o, const struct inis_exited *e)
{
	if (e->cpu_us)
		object_int(o, "cpu_ms", shown(e->cpu_us / 1000));
	if (e->peak_bytes)
		object_int(o, "peak_memory_bytes", shown(e->peak_bytes));
	object_int(o, "stdout_bytes", shown(e->out_total));
	object_int(o, "stderr_bytes", shown(e->err_total));
}
