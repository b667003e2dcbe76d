/* SPDX-License-Identifier: Apache-2.0
 *
 * pty.c - named terminals: their start, size, output and end.
 */
#include "agent/pty.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/command.h"
#include "base/cleanup.h"

#define COMMAND_MAX  4096 /* bytes of arguments shown; a longer command line is shown in part */
#define ROWS_DEFAULT 24
#define COLS_DEFAULT 80
#define NUDGE_MS     100 /* long enough for a program to have noticed */

struct list ptys = LIST_INIT(ptys);

struct pty *pty_find(struct inis_str name)
{
	list_each (at, &ptys) {
		struct pty *p = container_of(at, struct pty, node);

		if (task_live(&p->task) && inis_str_eq(name, p->name))
			return p;
	}
	return NULL;
}

static unsigned running(void)
{
	unsigned n = 0;

	list_each (at, &ptys)
		n += task_live(&container_of(at, struct pty, node)->task);
	return n;
}

static void pty_free(struct pty *p)
{
	list_remove(&p->node);
	inis_timer_stop(&agent.events, &p->nudge);
	inpipe_close(&p->in);
	outpipe_abandon(&p->out);
	terminal_close(&p->terminal);
	ring_free(&p->ring);
	inis_buf_free(&p->command);
	free(p);
}

void pty_settle(struct pty *p)
{
	if (p->owner)
		owner_wake(p);
	else if (pty_drained(p))
		pty_free(p);
}

/* ---- size ---- */

static void set_size(struct pty *p, uint16_t rows, uint16_t cols)
{
	if (rows == p->rows && cols == p->cols)
		return;
	p->rows = rows;
	p->cols = cols;
	/* First on the tape: what the program writes when it hears of it comes behind. */
	ring_size(&p->ring, rows, cols);
	terminal_resize(&p->terminal, rows, cols);
	owner_wake(p);
}

void pty_resize(struct pty *p, uint16_t rows, uint16_t cols)
{
	inis_timer_stop(&agent.events, &p->nudge);
	set_size(p, rows, cols);
}

static void on_nudged(struct inis_timer *t)
{
	struct pty *p = container_of(t, struct pty, nudge);

	set_size(p, p->nudged_rows, p->cols);
}

void pty_nudge(struct pty *p)
{
	p->nudged_rows = p->rows;
	set_size(p, p->rows > 1 ? p->rows - 1 : 2, p->cols);
	inis_timer_start(&agent.events, &p->nudge, NUDGE_MS);
}

/* ---- output and end ---- */

static size_t out_room(struct outpipe *pipe)
{
	return owner_room(container_of(pipe, struct pty, out));
}

static void out_data(struct outpipe *pipe, const void *data, size_t n)
{
	struct pty *p = container_of(pipe, struct pty, out);

	ring_output(&p->ring, data, n);
	owner_wake(p);
}

static void out_done(struct outpipe *pipe)
{
	pty_settle(container_of(pipe, struct pty, out));
}

static const struct outpipe_ops out_ops = {out_room, out_data, out_done};

static void pty_over(struct task *t)
{
	struct pty *p = container_of(t, struct pty, task);

	inis_timer_stop(&agent.events, &p->nudge);
	inpipe_close(&p->in);
	pty_waiters_answer(p);
	if (p->out.fd >= 0)
		outpipe_finish(&p->out);
	else
		pty_settle(p);
}

static void on_input_ready(struct inpipe *pipe, bool broken)
{
	if (broken)
		inpipe_close(pipe);
	else
		owner_push(container_of(pipe, struct pty, in));
}

/* ---- start ---- */

static void begin(struct pty *p, struct spawned *s, const struct inis_attach *m)
{
	memcpy(p->name, m->name.s, m->name.len);
	p->rows = m->pty.rows;
	p->cols = m->pty.cols;
	p->nudge.fire = on_nudged;
	p->argc = command_remember(&p->command, &m->pty.exec, COMMAND_MAX);
	list_init(&p->waiters);
	list_append(&ptys, &p->node);
	ring_init(&p->ring, p->rows, p->cols);
	task_start(&p->task, s, 0, pty_over);
	p->task.terminal = true;
	inpipe_open(&p->in, s->in, on_input_ready);
	outpipe_open_terminal(&p->out, s->out, &out_ops);
	if (s->complaint[0])
		ring_output(&p->ring, s->complaint, strlen(s->complaint));
}

struct pty *pty_start(const struct inis_attach *wanted, struct inis_error *err)
{
	cleanup_free struct pty *p = calloc(1, sizeof(*p));
	struct inis_attach m = *wanted;
	struct spawned s;

	if (!p) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	if (running() >= PTYS_MAX) {
		inis_fail(err, INIS_CONFLICT, "too many named terminals in this session: at most %d may run", PTYS_MAX);
		return NULL;
	}
	if (m.pty.rows == 0 || m.pty.cols == 0) {
		m.pty.rows = ROWS_DEFAULT;
		m.pty.cols = COLS_DEFAULT;
	}
	if (terminal_spawn(&p->terminal, &m.pty, &s, err) < 0) {
		terminal_close(&p->terminal);
		return NULL;
	}
	begin(p, &s, &m);
	return take_ptr(p);
}
