/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_verbs.c - the requests to an agent, packed.
 */
#include <string.h>

#include "session/agent_private.h"

static struct inis_str str(const char *s)
{
	return (struct inis_str){s, strlen(s)};
}

static void set_id(struct agent_call *c, struct inis_str id)
{
	size_t n = id.len < sizeof(c->id) ? id.len : sizeof(c->id) - 1;

	memcpy(c->id, id.s, n);
	c->id[n] = '\0';
}

struct agent_call *agent_exec(struct agent *a, const struct inis_exec *m, const struct agent_handler *h, void *ctx,
			      struct inis_error *err)
{
	struct agent_call *c = call_new(a, INIS_F_EXEC, h, ctx, err);

	if (!c)
		return NULL;
	set_id(c, m->id);
	c->resumes = true;
	c->absolute = true;
	c->limit_ms = m->timeout_ms ? (inis_ms)m->timeout_ms + INIS_TERM_GRACE_MS + CALL_LIMIT_MS : INIS_NEVER;
	inis_exec_pack(&c->request, m);
	return call_start(c, err);
}

struct agent_call *agent_pty(struct agent *a, const struct inis_pty *m, const struct agent_handler *h, void *ctx,
			     struct inis_error *err)
{
	struct agent_call *c = call_new(a, INIS_F_PTY_START, h, ctx, err);

	if (!c)
		return NULL;
	set_id(c, m->exec.id);
	c->resumes = true;
	c->absolute = true;
	c->limit_ms = INIS_NEVER;
	inis_pty_pack(&c->request, m);
	return call_start(c, err);
}

struct agent_call *agent_pty_attach(struct agent *a, const struct inis_attach *m, const struct agent_handler *h,
				    void *ctx, struct inis_error *err)
{
	struct agent_call *c = call_new(a, INIS_F_PTY_ATTACH, h, ctx, err);

	if (!c)
		return NULL;
	set_id(c, m->pty.exec.id);
	c->resumes = true;
	inis_attach_pack(&c->request, m);
	return call_start(c, err);
}

struct agent_call *agent_proc_start(struct agent *a, const struct inis_exec *m, const struct agent_handler *h,
				    void *ctx, struct inis_error *err)
{
	struct agent_call *c = call_new(a, INIS_F_PROC_START, h, ctx, err);

	if (!c)
		return NULL;
	inis_exec_pack(&c->request, m);
	return call_start(c, err);
}

/* A request whose message is one or two texts. */
static struct agent_call *text_call(struct agent *a, uint16_t type, const char *first, const char *second,
				    const struct agent_handler *h, void *ctx, struct inis_error *err)
{
	struct agent_call *c = call_new(a, type, h, ctx, err);

	if (!c)
		return NULL;
	if (first)
		inis_pack_cstr(&c->request, first);
	if (second)
		inis_pack_cstr(&c->request, second);
	return call_start(c, err);
}

struct agent_call *agent_proc_get(struct agent *a, const char *name, const struct agent_handler *h, void *ctx,
				  struct inis_error *err)
{
	return text_call(a, INIS_F_PROC_GET, name, NULL, h, ctx, err);
}

struct agent_call *agent_proc_list(struct agent *a, const struct agent_handler *h, void *ctx, struct inis_error *err)
{
	return text_call(a, INIS_F_PROC_LIST, NULL, NULL, h, ctx, err);
}

static struct agent_call *kill_call(struct agent *a, uint16_t type, const char *name, uint32_t grace_ms,
				    const struct agent_handler *h, void *ctx, struct inis_error *err)
{
	struct agent_call *c = call_new(a, type, h, ctx, err);

	if (!c)
		return NULL;
	c->limit_ms += grace_ms;
	inis_pack_cstr(&c->request, name);
	inis_pack_u32(&c->request, grace_ms);
	return call_start(c, err);
}

struct agent_call *agent_proc_kill(struct agent *a, const char *name, uint32_t grace_ms, const struct agent_handler *h,
				   void *ctx, struct inis_error *err)
{
	return kill_call(a, INIS_F_PROC_KILL, name, grace_ms, h, ctx, err);
}

struct agent_call *agent_pty_list(struct agent *a, const struct agent_handler *h, void *ctx, struct inis_error *err)
{
	return text_call(a, INIS_F_PTY_LIST, NULL, NULL, h, ctx, err);
}

struct agent_call *agent_pty_kill(struct agent *a, const char *name, uint32_t grace_ms, const struct agent_handler *h,
				  void *ctx, struct inis_error *err)
{
	return kill_call(a, INIS_F_PTY_KILL, name, grace_ms, h, ctx, err);
}

struct agent_call *agent_proc_stdin(struct agent *a, const char *name, const struct agent_handler *h, void *ctx,
				    struct inis_error *err)
{
	struct agent_call *c = call_new(a, INIS_F_PROC_STDIN, h, ctx, err);

	if (!c)
		return NULL;
	inis_pack_cstr(&c->request, name);
	return call_start(c, err);
}

struct agent_call *agent_proc_logs(struct agent *a, const struct inis_logs *m, const struct agent_handler *h, void *ctx,
				   struct inis_error *err)
{
	struct agent_call *c = call_new(a, INIS_F_PROC_LOGS, h, ctx, err);

	if (!c)
		return NULL;
	set_id(c, m->name);
	c->logs = *m;
	c->logs.name = str(c->id);
	c->resumes = m->follow;
	if (m->follow)
		c->limit_ms = INIS_NEVER;
	inis_logs_pack(&c->request, &c->logs);
	return call_start(c, err);
}

struct agent_call *agent_file_read(struct agent *a, const char *path, uint64_t offset, uint64_t length,
				   const struct agent_handler *h, void *ctx, struct inis_error *err)
{
	struct agent_call *c = call_new(a, INIS_F_FILE_READ, h, ctx, err);

	if (!c)
		return NULL;
	inis_pack_cstr(&c->request, path);
	inis_pack_u64(&c->request, offset);
	inis_pack_u64(&c->request, length);
	return call_start(c, err);
}

struct agent_call *agent_file_write(struct agent *a, const struct inis_file_write *m, const struct agent_handler *h,
				    void *ctx, struct inis_error *err)
{
	struct agent_call *c = call_new(a, INIS_F_FILE_WRITE, h, ctx, err);

	if (!c)
		return NULL;
	/* The last step may have to wait for a slow disk. */
	c->limit_ms = 4 * CALL_LIMIT_MS;
	inis_file_write_pack(&c->request, m);
	return call_start(c, err);
}

struct agent_call *agent_file_list(struct agent *a, const char *path, uint32_t limit, const struct agent_handler *h,
				   void *ctx, struct inis_error *err)
{
	struct agent_call *c = call_new(a, INIS_F_FILE_LIST, h, ctx, err);

	if (!c)
		return NULL;
	inis_pack_cstr(&c->request, path);
	inis_pack_u32(&c->request, limit);
	return call_start(c, err);
}

struct agent_call *agent_file_mkdir(struct agent *a, const char *path, const struct agent_handler *h, void *ctx,
				    struct inis_error *err)
{
	return text_call(a, INIS_F_FILE_MKDIR, path, NULL, h, ctx, err);
}

struct agent_call *agent_file_remove(struct agent *a, const char *path, bool recursive, const struct agent_handler *h,
				     void *ctx, struct inis_error *err)
{
	struct agent_call *c = call_new(a, INIS_F_FILE_REMOVE, h, ctx, err);

	if (!c)
		return NULL;
	/* A tree may be large. */
	c->limit_ms = 10 * CALL_LIMIT_MS;
	inis_pack_cstr(&c->request, path);
	inis_pack_u8(&c->request, recursive);
	return call_start(c, err);
}

struct agent_call *agent_file_rename(struct agent *a, const char *path, const char *dest, const struct agent_handler *h,
				     void *ctx, struct inis_error *err)
{
	return text_call(a, INIS_F_FILE_RENAME, path, dest, h, ctx, err);
}

struct agent_call *agent_file_stat(struct agent *a, const char *path, const struct agent_handler *h, void *ctx,
				   struct inis_error *err)
{
	return text_call(a, INIS_F_FILE_STAT, path, NULL, h, ctx, err);
}

struct agent_call *agent_file_search(struct agent *a, bool grep, const struct inis_search *m,
				     const struct agent_handler *h, void *ctx, struct inis_error *err)
{
	struct agent_call *c = call_new(a, grep ? INIS_F_FILE_GREP : INIS_F_FILE_FIND, h, ctx, err);

	if (!c)
		return NULL;
	c->limit_ms += m->budget_ms;
	inis_search_pack(&c->request, m);
	return call_start(c, err);
}
