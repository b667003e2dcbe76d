/* SPDX-License-Identifier: Apache-2.0
 *
 * worker.h - a thread that does jobs for the loop, in order.
 *
 * Jobs that have gathered are done together; then their finish() is called on the
 * loop. The thread may also have something to do from time to time by itself.
 */
#ifndef INIS_STORE_WORKER_H
#define INIS_STORE_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/error.h"

struct job {
	struct job *next;
	struct inis_error err; /* INIS_OK: done */
	void (*finish)(struct job *job); /* on the loop; frees the job */
};

struct worker {
	/* Set by the user before worker_start(). All but closed run on the thread. */
	void *ctx;
	void (*run)(void *ctx, struct job *batch);
	uint64_t (*idle)(
		void *ctx); /* at first and after each batch; returns the longest wait until the next call, ms; may be NULL */
	void (*last)(void *ctx); /* before the thread ends; may be NULL */
	void (*closed)(void *ctx); /* on the loop, after the last finish() */

	uv_thread_t thread;
	uv_async_t async;
	uv_timer_t timer;
	struct job *later, **later_tail; /* the loop's: handed over with the next of queue, or when the timer fires */
	int handles; /* that are not closed */
	uv_mutex_t lock;
	uv_cond_t wake;
	struct job *queue, **queue_tail; /* under lock */
	struct job *done, **done_tail; /* under lock */
	bool stopping; /* under lock */
	bool stopped; /* under lock */
	bool active; /* closed will be called */
	bool has_thread;
};

/* After a failure with w->active, worker_stop() is still owed. */
int worker_start(struct worker *w, uv_loop_t *loop, struct inis_error *err);
void worker_add(struct worker *w, struct job *job);
/* As worker_add(), but it may wait a moment for others to be done with; its order among those of worker_add() is open. */
void worker_add_later(struct worker *w, struct job *job);
/* Finishes what is queued, then calls closed. Nothing may be added any more. */
void worker_stop(struct worker *w);

#endif
