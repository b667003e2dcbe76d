/* SPDX-License-Identifier: Apache-2.0
 *
 * pty_requests.c - attach to, list and end named terminals.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/link.h"
#include "agent/pty.h"
#include "agent/request.h"

static int read_name(struct inis_str from, char name[static INIS_PROC_NAME_MAX + 1], const char *field,
		     struct inis_error *err)
{
	size_t n = from.len <= INIS_PROC_NAME_MAX ? from.len : 0;

	memcpy(name, from.s, n);
	name[n] = '\0';
	return proc_name_valid(name) ? 0 : inis_fail_field(err, field, "not a valid name");
}

/* ---- attach ---- */

static int attach(uint32_t channel, const struct inis_attach *m, struct inis_error *err)
{
	char name[INIS_PROC_NAME_MAX + 1], id[INIS_PROC_NAME_MAX + 1];
	struct pty *p = pty_find(m->name);
	bool sized = m->pty.rows > 0 && m->pty.cols > 0, fresh = !p;
	struct owner *o;

	if (read_name(m->name, name, "name", err) < 0 || read_name(m->pty.exec.id, id, "exec_id", err) < 0)
		return -1;
	o = owner_new(channel, id, err);
	if (!o)
		return -1;
	if (fresh)
		p = pty_start(m, err);
	if (!p) {
		owner_free(o);
		return -1;
	}
	owner_take(o, p, fresh ? INIS_PTY_STARTED : 0);
	if (sized && (m->pty.rows != p->rows || m->pty.cols != p->cols))
		pty_resize(p, m->pty.rows, m->pty.cols);
	else if (o->info.flags & INIS_PTY_TRUNCATED)
		pty_nudge(p);
	return 0;
}

int pty_attach_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_attach m;
	int rc;

	if (inis_attach_unpack(data, n, &m) < 0)
		return request_malformed(err);
	rc = attach(channel, &m, err);
	inis_exec_free(&m.pty.exec);
	return rc;
}

/* ---- list ---- */

static void send_entry(uint32_t channel, const struct pty *p)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	const struct inis_pty_entry m = {.name = {p->name, strlen(p->name)},
					 .rows = p->rows,
					 .cols = p->cols,
					 .attached = p->owner != NULL,
					 .pid = (uint32_t)p->task.pid,
					 .started_wall_ms = p->task.started_wall,
					 .argc = p->argc};

	inis_pty_entry_head_pack(&b, &m);
	inis_buf_append(&b, p->command.data, p->command.len);
	link_send_buf(channel, INIS_F_PTY_ENTRY, &b);
}

/* A few short ones: all at once. */
int pty_list_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	(void)data;
	if (n != 0)
		return request_malformed(err);
	list_each (at, &ptys) {
		const struct pty *p = container_of(at, struct pty, node);

		if (task_live(&p->task))
			send_entry(channel, p);
	}
	link_send_end(channel, 0);
	return 0;
}

/* ---- end ---- */

/* A request that waits for the end. */
struct waiter {
	struct list node;
	struct channel channel;
};

static void waiter_free(struct waiter *w)
{
	channel_close(&w->channel);
	list_remove(&w->node);
	free(w);
}

static int waiter_frame(struct channel *ch, const struct inis_frame *f, struct inis_error *err)
{
	(void)ch;
	(void)f;
	return request_malformed(err);
}

static bool waiter_pump(struct channel *ch)
{
	(void)ch;
	return false;
}

/* The hang-up itself goes on. */
static void waiter_gone(struct channel *ch, enum channel_end how)
{
	(void)how;
	waiter_free(container_of(ch, struct waiter, channel));
}

static const struct channel_ops waiter_ops = {waiter_frame, waiter_pump, waiter_gone};

void pty_waiters_answer(struct pty *p)
{
	list_each (at, &p->waiters) {
		struct waiter *w = container_of(at, struct waiter, node);

		link_send_end(w->channel.id, 0);
		waiter_free(w);
	}
}

static int await_end(uint32_t channel, struct pty *p, struct inis_error *err)
{
	struct waiter *w = calloc(1, sizeof(*w));

	if (!w)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	channel_init(&w->channel);
	list_append(&p->waiters, &w->node);
	if (channel_open(&w->channel, channel, &waiter_ops, err) == 0)
		return 0;
	waiter_free(w);
	return -1;
}

int pty_kill_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_unpack u;
	struct inis_str name;
	uint32_t grace;
	struct pty *p;

	inis_unpack_init(&u, data, n);
	name = inis_unpack_str(&u);
	grace = inis_unpack_u32(&u);
	if (!inis_unpack_ok(&u))
		return request_malformed(err);
	p = pty_find(name);
	if (!p)
		return inis_fail(err, INIS_NOT_FOUND, "no such terminal runs");
	if (await_end(channel, p, err) < 0)
		return -1;
	task_kill(&p->task, grace);
	return 0;
}
