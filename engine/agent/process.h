/* SPDX-License-Identifier: Apache-2.0
 *
 * process.h - named processes: they belong to the session, not to a connection.
 */
#ifndef INIS_AGENT_PROCESS_H
#define INIS_AGENT_PROCESS_H

#include "agent/input.h"
#include "agent/outpipe.h"
#include "agent/spool.h"
#include "agent/task.h"

struct process;

struct log_stream {
	struct outpipe pipe;
	struct spool spool;
	struct process *process;
};

struct process {
	struct list node;
	char name[INIS_PROC_NAME_MAX + 1];
	uint64_t serial; /* in order of their start, from 1 */
	uint32_t flags; /* INIS_EXEC_* */
	struct task task;
	struct log_stream out;
	struct log_stream err;
	struct inpipe stdin_pipe;
	bool has_stdin; /* was started with one */
	struct inis_buf command; /* packed strings: what PROC_INFO shows */
	uint32_t argc;
	unsigned slot; /* records.c; 0: none */
	struct list followers; /* logs.c */
	struct list writers; /* process_stdin.c */
	struct list killers; /* process_requests.c */
};

/* Fails with not_found. */
struct process *process_find(struct inis_str name, struct inis_error *err);

/* Fails with conflict when one of this name runs; replaces one that has exited. */
struct process *process_start(const struct inis_exec *m, struct inis_error *err);

/* All its output is in the spools. */
static inline bool process_drained(const struct process *p)
{
	return !task_live(&p->task) && p->out.pipe.fd < 0 && p->err.pipe.fd < 0;
}

/* As the message PROC_INFO; more_flags: INIS_EXIT_*. */
void process_pack_info(struct inis_buf *b, const struct process *p, uint32_t more_flags);

/* The one started next after `serial`, exited or not; NULL: no more. Walks the table while it changes. */
struct process *process_after(uint64_t serial);

/* Requests: the first message of a channel. */
int process_start_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int process_get_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int process_list_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int process_kill_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int process_stdin_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int process_logs_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);

/* What the other parts are told. */
void process_killers_answer(struct process *p); /* it is over */
void process_stdin_ready(struct inpipe *pipe, bool broken);
void process_stdin_end(struct process *p); /* it is over */
void process_followers_wake(struct process *p); /* more output, or its end */
void process_followers_drop(struct process *p); /* its spools go away */

#endif
