/* SPDX-License-Identifier: Apache-2.0
 *
 * process.c - the table of named processes.
 */
#include "agent/process.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/command.h"
#include "agent/records.h"
#include "base/cleanup.h"

#define COMMAND_MAX 32768 /* bytes of arguments shown; a longer command line is shown in part */

static struct list running = LIST_INIT(running);
static struct list exited = LIST_INIT(exited); /* the longest exited first */
static unsigned n_running;
static unsigned n_exited;
static uint64_t last_serial;

static struct process *find_in(const struct list *head, struct inis_str name)
{
	list_each (at, head) {
		struct process *p = container_of(at, struct process, node);

		if (inis_str_eq(name, p->name))
			return p;
	}
	return NULL;
}

struct process *process_find(struct inis_str name, struct inis_error *err)
{
	struct process *p = find_in(&running, name);

	if (!p)
		p = find_in(&exited, name);
	if (!p)
		inis_fail(err, INIS_NOT_FOUND, "process \"%.*s\" not found", (int)(name.len > 64 ? 64 : name.len),
			  name.s);
	return p;
}

static struct process *earliest_after(const struct list *head, uint64_t serial, struct process *best)
{
	list_each (at, head) {
		struct process *p = container_of(at, struct process, node);

		if (p->serial > serial && (!best || p->serial < best->serial))
			best = p;
	}
	return best;
}

struct process *process_after(uint64_t serial)
{
	return earliest_after(&running, serial, earliest_after(&exited, serial, NULL));
}

void process_pack_info(struct inis_buf *b, const struct process *p, uint32_t more_flags)
{
	bool live = task_live(&p->task);
	struct inis_exited e = {.out_total = p->out.spool.end, .err_total = p->err.spool.end};

	if (!live)
		task_exited(&p->task, &e);
	e.flags |= more_flags | (p->flags & INIS_EXEC_KEEP_ALIVE ? INIS_EXIT_KEEP_ALIVE : 0) |
		   (live && p->stdin_pipe.fd >= 0 ? INIS_EXIT_STDIN_OPEN : 0);
	inis_pack_cstr(b, p->name);
	inis_pack_u8(b, live);
	inis_pack_u32(b, (uint32_t)p->task.pid);
	inis_exited_pack(b, &e);
	inis_pack_u64(b, p->task.started_wall);
	inis_pack_u64(b, live ? 0 : p->task.ended_wall);
	inis_pack_u32(b, p->argc);
	inis_buf_append(b, p->command.data, p->command.len);
	inis_usage_pack(b, &e);
}

static void process_free(struct process *p)
{
	list_remove(&p->node);
	record_remove(p);
	process_followers_drop(p);
	outpipe_abandon(&p->out.pipe);
	outpipe_abandon(&p->err.pipe);
	spool_remove(&p->out.spool);
	spool_remove(&p->err.spool);
	inis_buf_free(&p->command);
	free(p);
}

static void forget(struct process *p)
{
	process_free(p);
	n_exited--;
}

/* Nobody waits for a reader of logs: there is always room. */
static size_t log_room(struct outpipe *pipe)
{
	(void)pipe;
	return AGENT_SCRATCH;
}

static void log_data(struct outpipe *pipe, const void *data, size_t n)
{
	struct log_stream *s = container_of(pipe, struct log_stream, pipe);

	spool_append(&s->spool, data, n);
	process_followers_wake(s->process);
}

static void log_done(struct outpipe *pipe)
{
	struct log_stream *s = container_of(pipe, struct log_stream, pipe);

	spool_retire(&s->spool);
	process_followers_wake(s->process);
}

static const struct outpipe_ops log_ops = {log_room, log_data, log_done};

static void process_over(struct task *t)
{
	struct process *p = container_of(t, struct process, task);

	list_remove(&p->node);
	list_append(&exited, &p->node);
	n_running--;
	n_exited++;
	outpipe_finish(&p->out.pipe);
	outpipe_finish(&p->err.pipe);
	record_put(p);
	process_stdin_end(p);
	process_killers_answer(p);
	process_followers_wake(p);
	if (n_exited > AGENT_PROCS_EXITED_MAX)
		forget(container_of(exited.next, struct process, node));
}

static int check_name(const struct inis_exec *m, char name[static INIS_PROC_NAME_MAX + 1], struct inis_error *err)
{
	if (m->id.len > INIS_PROC_NAME_MAX)
		return inis_fail_field(err, "name", "too long");
	memcpy(name, m->id.s, m->id.len);
	name[m->id.len] = '\0';
	if (!proc_name_valid(name))
		return inis_fail_field(err, "name", "not a valid name");
	if (find_in(&running, m->id))
		return inis_fail(err, INIS_CONFLICT, "process \"%s\" is already running", name);
	if (n_running >= AGENT_PROCS_RUNNING_MAX)
		return inis_fail(err, INIS_CONFLICT, "too many processes in this session: at most %d may run",
				 AGENT_PROCS_RUNNING_MAX);
	return 0;
}

static void begin(struct process *p, struct spawned *s, const struct inis_exec *m)
{
	struct process *old = find_in(&exited, m->id);

	if (old)
		forget(old);
	list_append(&running, &p->node);
	n_running++;
	p->serial = ++last_serial;
	p->flags = m->flags;
	p->has_stdin = s->in >= 0;
	p->out.process = p->err.process = p;
	list_init(&p->followers);
	list_init(&p->writers);
	list_init(&p->killers);
	p->argc = command_remember(&p->command, m, COMMAND_MAX);
	spool_init(&p->out.spool, p->name, false);
	spool_init(&p->err.spool, p->name, true);
	task_start(&p->task, s, m->timeout_ms, process_over);
	p->stdin_pipe.fd = -1;
	if (p->has_stdin)
		inpipe_open(&p->stdin_pipe, s->in, process_stdin_ready);
	outpipe_open(&p->out.pipe, s->out, &log_ops);
	outpipe_open(&p->err.pipe, s->err, &log_ops);
	if (s->complaint[0])
		spool_append(&p->err.spool, s->complaint, strlen(s->complaint));
	record_put(p);
}

struct process *process_start(const struct inis_exec *m, struct inis_error *err)
{
	cleanup_free struct process *p = calloc(1, sizeof(*p));
	struct spawned s;

	if (!p) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	if (check_name(m, p->name, err) < 0 || spawn(m, &s, err) < 0)
		return NULL;
	begin(p, &s, m);
	return take_ptr(p);
}
