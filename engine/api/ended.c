/* SPDX-License-Identifier: Apache-2.0
 *
 * ended.c - processes of sessions that have ended: list one and all.
 */
#include "api/ended.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "api/fields.h"
#include "api/object.h"
#include "api/process_json.h"
#include "wire/spool_proto.h"

static const struct inis_error no_memory = {.code = INIS_UNAVAILABLE, .message = "out of memory"};

void ended_begin(struct op *op, void (*ended)(struct op *op))
{
	struct inis_error err = INIS_ERROR_INIT;
	bool wanted = false;

	if (query_bool(op->rq, "ended", &wanted, &err) < 0) {
		op_fail(op, &err);
		return;
	}
	if (wanted)
		op->ended = ended;
	op_begin(op);
}

bool ended_left(struct op *op)
{
	if (op->gone)
		op_leave(op);
	return op->gone;
}

/* ---- reading ---- */

struct reading {
	struct op *op;
	ended_done done;
	struct inis_kept_file *files;
	size_t count;
};

static void reading_free(struct reading *r)
{
	free(r->files);
	free(r);
}

static void give_up(struct reading *r, const struct inis_error *err)
{
	op_fail(r->op, err);
	reading_free(r);
}

static void on_table(void *ctx, const uint8_t *table, size_t n, const struct inis_error *err)
{
	struct reading *r = ctx;
	const struct ended_kept kept = {.files = r->files, .count = r->count, .table = table, .table_size = n};

	if (err)
		op_fail(r->op, err);
	else if (!ended_left(r->op))
		r->done(r->op, &kept);
	reading_free(r);
}

static void on_files(void *ctx, const struct inis_kept_file *files, size_t count, const struct inis_error *err)
{
	struct reading *r = ctx;
	struct inis_error mine = INIS_ERROR_INIT;

	if (err) {
		give_up(r, err);
		return;
	}
	r->count = count;
	r->files = malloc(count ? count * sizeof(*files) : 1);
	if (!r->files) {
		give_up(r, &no_memory);
		return;
	}
	if (count)
		memcpy(r->files, files, count * sizeof(*files));
	if (inis_kept_read(api_of(r->op->rq)->kept, &r->op->session->id, INIS_SPOOL_TABLE, 0, INIS_SPOOL_TABLE_MAX,
			   on_table, r, &mine) < 0)
		give_up(r, &mine);
}

void ended_read(struct op *op, ended_done done)
{
	struct reading *r = calloc(1, sizeof(*r));
	struct inis_error err = INIS_ERROR_INIT;

	if (!r) {
		op_fail(op, &no_memory);
		return;
	}
	r->op = op;
	r->done = done;
	if (inis_kept_files(api_of(op->rq)->kept, &op->session->id, on_files, r, &err) < 0)
		give_up(r, &err);
}

/* The next record from *at on; false: no more. */
static bool next_record(const struct ended_kept *kept, size_t *at, uint64_t *serial, struct inis_proc_info *out)
{
	while (*at + INIS_SPOOL_RECORD <= kept->table_size) {
		const uint8_t *slot = kept->table + *at;

		*at += INIS_SPOOL_RECORD;
		if (inis_spool_record_get(slot, serial, out))
			return true;
	}
	return false;
}

bool ended_find(const struct ended_kept *kept, const char *name, struct inis_proc_info *out)
{
	struct inis_proc_info p;
	uint64_t serial, latest = 0;
	bool found = false;

	for (size_t at = 0; next_record(kept, &at, &serial, &p);) {
		if (!inis_str_eq(p.name, name) || (found && serial < latest)) {
			inis_proc_info_free(&p);
			continue;
		}
		if (found)
			inis_proc_info_free(out);
		*out = p;
		latest = serial;
		found = true;
	}
	return found;
}

/* What its stream had come to, as far as that is kept. */
static uint64_t stream_end(const struct ended_kept *kept, struct inis_str process, bool is_err)
{
	struct inis_spool_name name;
	uint64_t end = 0;

	for (size_t i = 0; i < kept->count; i++) {
		if (inis_spool_name_parse(kept->files[i].name, &name) && name.is_err == is_err &&
		    inis_str_eq(process, name.process) && name.start + kept->files[i].size > end)
			end = name.start + kept->files[i].size;
	}
	return end;
}

/* What ran until the end was killed with its session. */
static json_t *ended_json(const struct op *op, const struct ended_kept *kept, const struct inis_proc_info *p)
{
	struct inis_proc_info q = *p;
	uint64_t ended = (uint64_t)op->session->ended_at;

	if (!q.running)
		return process_json(p, false);
	q.running = 0;
	q.ended_wall_ms = ended > q.started_wall_ms ? ended : q.started_wall_ms;
	q.exit = (struct inis_exited){.exit_code = 128 + SIGKILL,
				      .signal = SIGKILL,
				      .flags = (p->exit.flags & INIS_EXIT_KEEP_ALIVE) | INIS_EXIT_KILLED,
				      .out_total = stream_end(kept, p->name, false),
				      .err_total = stream_end(kept, p->name, true)};
	return process_json(&q, false);
}

/* ---- one ---- */

static void show_one(struct op *op, const struct ended_kept *kept)
{
	struct inis_proc_info p;
	json_t *json;

	if (!ended_find(kept, http_param(op->rq, "name"), &p)) {
		process_missing(op);
		return;
	}
	json = ended_json(op, kept, &p);
	inis_proc_info_free(&p);
	op_json(op, 200, json);
}

void ended_get(struct op *op)
{
	ended_read(op, show_one);
}

/* ---- all ---- */

struct row {
	uint64_t serial;
	json_t *json;
};

static int by_start(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

static void show_all(struct op *op, const struct ended_kept *kept)
{
	struct row *rows = calloc(INIS_SPOOL_RECORDS + 1, sizeof(*rows));
	struct object o = object_new();
	json_t *list = json_array();
	struct inis_proc_info p;
	size_t count = 0;

	o.failed |= !rows;
	for (size_t at = 0; rows && next_record(kept, &at, &rows[count].serial, &p);) {
		rows[count++].json = ended_json(op, kept, &p);
		inis_proc_info_free(&p);
	}
	if (rows)
		qsort(rows, count, sizeof(*rows), by_start);
	for (size_t i = 0; i < count; i++)
		o.failed |= json_array_append_new(list, rows[i].json) < 0;
	free(rows);
	object_take(&o, "processes", list);
	op_json(op, 200, object_done(&o));
}

void ended_list(struct op *op)
{
	ended_read(op, show_all);
}
