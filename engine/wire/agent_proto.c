/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_proto.c - codecs of the agent protocol's messages.
 */
#include "wire/agent_proto.h"

#include <stdlib.h>
#include <string.h>

static int done(const struct inis_unpack *u)
{
	return inis_unpack_ok(u) ? 0 : -1;
}

static void pack_str(struct inis_buf *b, struct inis_str s)
{
	inis_pack_bytes(b, s.s, s.len);
}

static void pack_strs(struct inis_buf *b, const struct inis_str *list, uint32_t count)
{
	inis_pack_u32(b, count);
	for (uint32_t i = 0; i < count; i++)
		pack_str(b, list[i]);
}

static void copy_cut(char *to, size_t size, struct inis_str from)
{
	size_t n = from.len < size ? from.len : size - 1;

	memcpy(to, from.s, n);
	to[n] = '\0';
}

/* NULL with *count 0 for an empty list; fails u when there are more than max. */
static struct inis_str *unpack_strs(struct inis_unpack *u, uint32_t *count, uint32_t max)
{
	struct inis_str *list;

	*count = inis_unpack_u32(u);
	if (u->failed || *count == 0) {
		*count = 0;
		return NULL;
	}
	list = *count <= max ? calloc(*count, sizeof(*list)) : NULL;
	if (!list) {
		u->failed = true;
		*count = 0;
		return NULL;
	}
	for (uint32_t i = 0; i < *count; i++)
		list[i] = inis_unpack_str(u);
	return list;
}

void inis_hello_pack(struct inis_buf *b, const struct inis_hello *m)
{
	inis_pack_u32(b, m->version);
	inis_pack_u32(b, m->window);
	inis_pack_u64(b, m->features);
}

int inis_hello_unpack(const void *data, size_t n, struct inis_hello *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	m->version = inis_unpack_u32(&u);
	m->window = inis_unpack_u32(&u);
	m->features = inis_unpack_u64(&u);
	return done(&u);
}

void inis_reconnect_pack(struct inis_buf *b, const struct inis_reconnect *m, uint32_t count)
{
	inis_pack_u32(b, count);
	for (uint32_t i = 0; i < count; i++) {
		inis_pack_cstr(b, m[i].id);
		inis_pack_u32(b, m[i].channel);
		inis_pack_u64(b, m[i].out_have);
		inis_pack_u64(b, m[i].err_have);
		inis_pack_u8(b, m[i].state);
	}
}

int inis_reconnect_unpack(const void *data, size_t n, struct inis_reconnect *m, uint32_t max)
{
	struct inis_unpack u;
	uint32_t count;

	inis_unpack_init(&u, data, n);
	count = inis_unpack_u32(&u);
	if (u.failed || count > max || count > INIS_RECONNECT_MAX)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		inis_unpack_cstr(&u, m[i].id, sizeof(m[i].id));
		m[i].channel = inis_unpack_u32(&u);
		m[i].out_have = inis_unpack_u64(&u);
		m[i].err_have = inis_unpack_u64(&u);
		m[i].state = inis_unpack_u8(&u);
	}
	return done(&u) < 0 ? -1 : (int)count;
}

void inis_exec_pack(struct inis_buf *b, const struct inis_exec *m)
{
	pack_str(b, m->id);
	inis_pack_u32(b, m->flags);
	inis_pack_u32(b, m->timeout_ms);
	inis_pack_u8(b, m->stdin_mode);
	inis_pack_u64(b, m->capture_max);
	pack_str(b, m->cwd);
	pack_strs(b, m->argv, m->argc);
	pack_strs(b, m->env, m->envc);
}

/* The last part of a message. */
static int unpack_exec(struct inis_unpack *u, struct inis_exec *m, uint32_t argc_min)
{
	memset(m, 0, sizeof(*m));
	m->id = inis_unpack_str(u);
	m->flags = inis_unpack_u32(u);
	m->timeout_ms = inis_unpack_u32(u);
	m->stdin_mode = inis_unpack_u8(u);
	m->capture_max = inis_unpack_u64(u);
	m->cwd = inis_unpack_str(u);
	m->argv = unpack_strs(u, &m->argc, INIS_ARGV_MAX);
	m->env = unpack_strs(u, &m->envc, INIS_ENV_MAX);
	if (done(u) < 0 || m->argc < argc_min || m->stdin_mode > INIS_STDIN_PIPE) {
		inis_exec_free(m);
		return -1;
	}
	return 0;
}

int inis_exec_unpack(const void *data, size_t n, struct inis_exec *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	return unpack_exec(&u, m, 1);
}

void inis_exec_free(struct inis_exec *m)
{
	free(m->argv);
	free(m->env);
	m->argv = m->env = NULL;
	m->argc = m->envc = 0;
}

void inis_pty_pack(struct inis_buf *b, const struct inis_pty *m)
{
	inis_pack_u16(b, m->rows);
	inis_pack_u16(b, m->cols);
	inis_exec_pack(b, &m->exec);
}

/* The last part of a message. */
static int unpack_pty(struct inis_unpack *u, struct inis_pty *m)
{
	m->rows = inis_unpack_u16(u);
	m->cols = inis_unpack_u16(u);
	return unpack_exec(u, &m->exec, 0);
}

int inis_pty_unpack(const void *data, size_t n, struct inis_pty *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	return unpack_pty(&u, m);
}

void inis_attach_pack(struct inis_buf *b, const struct inis_attach *m)
{
	pack_str(b, m->name);
	inis_pty_pack(b, &m->pty);
}

int inis_attach_unpack(const void *data, size_t n, struct inis_attach *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	m->name = inis_unpack_str(&u);
	return unpack_pty(&u, &m->pty);
}

void inis_pty_info_pack(struct inis_buf *b, const struct inis_pty_info *m)
{
	inis_pack_u64(b, m->first);
	inis_pack_u64(b, m->live);
	inis_pack_u16(b, m->rows);
	inis_pack_u16(b, m->cols);
	inis_pack_u8(b, m->flags);
	pack_str(b, m->modes);
}

int inis_pty_info_unpack(const void *data, size_t n, struct inis_pty_info *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	m->first = inis_unpack_u64(&u);
	m->live = inis_unpack_u64(&u);
	m->rows = inis_unpack_u16(&u);
	m->cols = inis_unpack_u16(&u);
	m->flags = inis_unpack_u8(&u);
	m->modes = inis_unpack_bytes(&u);
	if (done(&u) < 0 || m->live < m->first || m->rows == 0 || m->cols == 0 || m->modes.len > INIS_PTY_MODES_MAX)
		return -1;
	return 0;
}

void inis_pty_entry_head_pack(struct inis_buf *b, const struct inis_pty_entry *m)
{
	pack_str(b, m->name);
	inis_pack_u16(b, m->rows);
	inis_pack_u16(b, m->cols);
	inis_pack_u8(b, m->attached);
	inis_pack_u32(b, m->pid);
	inis_pack_u64(b, m->started_wall_ms);
	inis_pack_u32(b, m->argc);
}

void inis_pty_entry_pack(struct inis_buf *b, const struct inis_pty_entry *m)
{
	inis_pty_entry_head_pack(b, m);
	for (uint32_t i = 0; i < m->argc; i++)
		pack_str(b, m->argv[i]);
}

static bool entry_sound(const struct inis_pty_entry *m)
{
	char name[INIS_PROC_NAME_MAX + 1];

	copy_cut(name, sizeof(name), m->name);
	return proc_name_valid(name) && m->name.len == strlen(name) && m->rows > 0 && m->cols > 0 && m->attached <= 1 &&
	       m->pid > 0 && m->started_wall_ms <= (uint64_t)INT64_MAX / 2;
}

int inis_pty_entry_unpack(const void *data, size_t n, struct inis_pty_entry *m)
{
	struct inis_unpack u;

	memset(m, 0, sizeof(*m));
	inis_unpack_init(&u, data, n);
	m->name = inis_unpack_str(&u);
	m->rows = inis_unpack_u16(&u);
	m->cols = inis_unpack_u16(&u);
	m->attached = inis_unpack_u8(&u);
	m->pid = inis_unpack_u32(&u);
	m->started_wall_ms = inis_unpack_u64(&u);
	m->argv = unpack_strs(&u, &m->argc, INIS_ARGV_MAX);
	if (done(&u) < 0 || !entry_sound(m)) {
		inis_pty_entry_free(m);
		return -1;
	}
	return 0;
}

void inis_pty_entry_free(struct inis_pty_entry *m)
{
	free(m->argv);
	m->argv = NULL;
	m->argc = 0;
}

void inis_exited_pack(struct inis_buf *b, const struct inis_exited *m)
{
	inis_pack_u32(b, (uint32_t)m->exit_code);
	inis_pack_u32(b, m->signal);
	inis_pack_u32(b, m->flags);
	inis_pack_u64(b, m->duration_ms);
	inis_pack_u64(b, m->cpu_us);
	inis_pack_u64(b, m->out_total);
	inis_pack_u64(b, m->err_total);
}

void inis_usage_pack(struct inis_buf *b, const struct inis_exited *m)
{
	if (m->peak_bytes)
		inis_pack_u64(b, m->peak_bytes);
}

/* Not there when it is unknown, or when the sender knows no such thing. */
static void unpack_usage(struct inis_unpack *u, struct inis_exited *m)
{
	m->peak_bytes = 0;
	if (u->left == 0)
		return;
	m->peak_bytes = inis_unpack_u64(u);
	if (m->peak_bytes == 0)
		u->failed = true;
}

static void unpack_exited(struct inis_unpack *u, struct inis_exited *m)
{
	m->exit_code = (int32_t)inis_unpack_u32(u);
	m->signal = inis_unpack_u32(u);
	m->flags = inis_unpack_u32(u);
	m->duration_ms = inis_unpack_u64(u);
	m->cpu_us = inis_unpack_u64(u);
	m->out_total = inis_unpack_u64(u);
	m->err_total = inis_unpack_u64(u);
}

int inis_exited_unpack(const void *data, size_t n, struct inis_exited *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	unpack_exited(&u, m);
	unpack_usage(&u, m);
	return done(&u);
}

void inis_proc_info_pack(struct inis_buf *b, const struct inis_proc_info *m)
{
	pack_str(b, m->name);
	inis_pack_u8(b, m->running);
	inis_pack_u32(b, m->pid);
	inis_exited_pack(b, &m->exit);
	inis_pack_u64(b, m->started_wall_ms);
	inis_pack_u64(b, m->ended_wall_ms);
	pack_strs(b, m->argv, m->argc);
	inis_usage_pack(b, &m->exit);
}

int inis_proc_info_unpack(const void *data, size_t n, struct inis_proc_info *m)
{
	struct inis_unpack u;

	memset(m, 0, sizeof(*m));
	inis_unpack_init(&u, data, n);
	m->name = inis_unpack_str(&u);
	m->running = inis_unpack_u8(&u);
	m->pid = inis_unpack_u32(&u);
	unpack_exited(&u, &m->exit);
	m->started_wall_ms = inis_unpack_u64(&u);
	m->ended_wall_ms = inis_unpack_u64(&u);
	m->argv = unpack_strs(&u, &m->argc, INIS_ARGV_MAX);
	unpack_usage(&u, &m->exit);
	if (done(&u) < 0) {
		inis_proc_info_free(m);
		return -1;
	}
	return 0;
}

void inis_proc_info_free(struct inis_proc_info *m)
{
	free(m->argv);
	m->argv = NULL;
	m->argc = 0;
}

void inis_logs_pack(struct inis_buf *b, const struct inis_logs *m)
{
	pack_str(b, m->name);
	inis_pack_u8(b, m->follow);
	inis_pack_u64(b, m->out_from);
	inis_pack_u64(b, m->err_from);
	inis_pack_u64(b, m->tail_max);
}

int inis_logs_unpack(const void *data, size_t n, struct inis_logs *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	m->name = inis_unpack_str(&u);
	m->follow = inis_unpack_u8(&u);
	m->out_from = inis_unpack_u64(&u);
	m->err_from = inis_unpack_u64(&u);
	m->tail_max = inis_unpack_u64(&u);
	return done(&u);
}

void inis_file_write_pack(struct inis_buf *b, const struct inis_file_write *m)
{
	pack_str(b, m->path);
	inis_pack_u32(b, m->mode);
	inis_pack_u64(b, m->size);
}

int inis_file_write_unpack(const void *data, size_t n, struct inis_file_write *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	m->path = inis_unpack_str(&u);
	m->mode = inis_unpack_u32(&u);
	m->size = inis_unpack_u64(&u);
	return done(&u) < 0 || m->mode > 0777 ? -1 : 0;
}

void inis_file_info_pack(struct inis_buf *b, const struct inis_file_info *m)
{
	inis_pack_u8(b, m->type);
	inis_pack_u32(b, m->mode);
	inis_pack_u64(b, m->size);
	inis_pack_u64(b, (uint64_t)m->mtime_ms);
}

int inis_file_info_unpack(const void *data, size_t n, struct inis_file_info *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	m->type = inis_unpack_u8(&u);
	m->mode = inis_unpack_u32(&u);
	m->size = inis_unpack_u64(&u);
	m->mtime_ms = (int64_t)inis_unpack_u64(&u);
	return done(&u) < 0 || m->type < INIS_FILE_REGULAR || m->type > INIS_FILE_OTHER ? -1 : 0;
}

void inis_wire_error_pack(struct inis_buf *b, const struct inis_error *m)
{
	inis_pack_u32(b, m->code);
	inis_pack_u32(b, (uint32_t)m->sys_errno);
	inis_pack_cstr(b, m->field);
	inis_pack_cstr(b, m->message);
}

int inis_wire_error_unpack(const void *data, size_t n, struct inis_error *m)
{
	struct inis_unpack u;

	inis_unpack_init(&u, data, n);
	m->code = inis_code_from_wire(inis_unpack_u32(&u));
	m->sys_errno = (int)inis_unpack_u32(&u);
	copy_cut(m->field, sizeof(m->field), inis_unpack_str(&u));
	copy_cut(m->message, sizeof(m->message), inis_unpack_str(&u));
	return done(&u);
}
