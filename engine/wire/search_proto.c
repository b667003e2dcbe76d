/* SPDX-License-Identifier: Apache-2.0
 *
 * search_proto.c - the messages of FILE_FIND and FILE_GREP, and the records of their answers.
 */
#include "wire/search_proto.h"

#include <string.h>

#include "wire/agent_proto.h"

/* More than any record holds: a path and 21 lines. */
#define RECORD_MAX ((size_t)256 * 1024)

static void pack_str(struct inis_buf *b, struct inis_str s)
{
	inis_pack_bytes(b, s.s, s.len);
}

void inis_search_pack(struct inis_buf *b, const struct inis_search *m)
{
	pack_str(b, m->path);
	pack_str(b, m->pattern);
	inis_pack_u32(b, m->flags);
	inis_pack_u32(b, m->max_results);
	inis_pack_u32(b, m->budget_ms);
	inis_pack_u32(b, m->max_depth);
	inis_pack_u32(b, m->context);
	pack_str(b, m->file_pattern);
	pack_str(b, m->exclude_dirs);
}

int inis_search_unpack(const void *data, size_t n, struct inis_search *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	m->path = inis_unpack_str(&u);
	m->pattern = inis_unpack_str(&u);
	m->flags = inis_unpack_u32(&u);
	m->max_results = inis_unpack_u32(&u);
	m->budget_ms = inis_unpack_u32(&u);
	m->max_depth = inis_unpack_u32(&u);
	m->context = inis_unpack_u32(&u);
	m->file_pattern = inis_unpack_str(&u);
	m->exclude_dirs = inis_unpack_str(&u);
	if (!inis_unpack_ok(&u) || m->pattern.len > INIS_SEARCH_PATTERN_MAX || m->max_results == 0 ||
	    m->file_pattern.len > INIS_SEARCH_PATTERN_MAX || m->exclude_dirs.len > INIS_SEARCH_PATTERN_MAX ||
	    m->context > INIS_SEARCH_CONTEXT_MAX)
		return -1;
	return 0;
}

static void pack_found(struct inis_buf *b, const struct inis_found *f)
{
	inis_pack_u8(b, f->type);
	inis_pack_u32(b, f->mode);
	inis_pack_u64(b, f->size);
	inis_pack_u64(b, (uint64_t)f->mtime_ms);
	pack_str(b, f->path);
}

static bool unpack_found(struct inis_unpack *u, struct inis_found *f)
{
	f->type = inis_unpack_u8(u);
	f->mode = inis_unpack_u32(u);
	f->size = inis_unpack_u64(u);
	f->mtime_ms = (int64_t)inis_unpack_u64(u);
	f->path = inis_unpack_str(u);
	return inis_unpack_ok(u) && f->type >= INIS_FILE_REGULAR && f->type <= INIS_FILE_OTHER && f->path.len > 0;
}

static void pack_lines(struct inis_buf *b, const struct inis_str *lines, uint8_t n)
{
	inis_pack_u8(b, n);
	for (uint8_t i = 0; i < n; i++)
		pack_str(b, lines[i]);
}

static bool unpack_lines(struct inis_unpack *u, struct inis_str lines[INIS_SEARCH_CONTEXT_MAX], uint8_t *n)
{
	*n = inis_unpack_u8(u);
	if (*n > INIS_SEARCH_CONTEXT_MAX)
		return false;
	for (uint8_t i = 0; i < *n; i++)
		lines[i] = inis_unpack_str(u);
	return true;
}

static void pack_match(struct inis_buf *b, const struct inis_match *m)
{
	pack_str(b, m->path);
	inis_pack_u32(b, m->line_number);
	pack_str(b, m->line);
	pack_lines(b, m->before, m->n_before);
	pack_lines(b, m->after, m->n_after);
}

static bool unpack_match(struct inis_unpack *u, struct inis_match *m)
{
	m->path = inis_unpack_str(u);
	m->line_number = inis_unpack_u32(u);
	m->line = inis_unpack_str(u);
	return unpack_lines(u, m->before, &m->n_before) && unpack_lines(u, m->after, &m->n_after) &&
	       inis_unpack_ok(u) && m->path.len > 0 && m->line_number > 0;
}

void inis_record_pack(struct inis_buf *b, const struct inis_record *r)
{
	cleanup_buf struct inis_buf body = INIS_BUF_INIT(0);

	if (r->kind == INIS_RECORD_FOUND)
		pack_found(&body, &r->found);
	else if (r->kind == INIS_RECORD_MATCH)
		pack_match(&body, &r->match);
	else
		inis_pack_u64(&body, r->searched);
	inis_pack_u8(b, r->kind);
	inis_pack_bytes(b, body.data, body.len);
	b->failed |= body.failed;
}

ssize_t inis_record_unpack(const void *data, size_t n, struct inis_record *r)
{
	struct inis_unpack u, body;
	uint32_t length;
	bool sound = false;

	memset(r, 0, sizeof(*r));
	inis_unpack_init(&u, data, n);
	r->kind = inis_unpack_u8(&u);
	length = inis_unpack_u32(&u);
	if (u.failed)
		return 0;
	if (length > RECORD_MAX)
		return -1;
	if (length > u.left)
		return 0;
	inis_unpack_init(&body, u.at, length);
	if (r->kind == INIS_RECORD_FOUND) {
		sound = unpack_found(&body, &r->found);
	} else if (r->kind == INIS_RECORD_MATCH) {
		sound = unpack_match(&body, &r->match);
	} else if (r->kind == INIS_RECORD_SEARCHED) {
		r->searched = inis_unpack_u64(&body);
		sound = inis_unpack_ok(&body);
	}
	return sound ? (ssize_t)(n - u.left + length) : -1;
}
