/* SPDX-License-Identifier: Apache-2.0
 *
 * worker.h - one thread for what blocks: jobs go in, come back to the event loop when done.
 *
 * A job belongs to its owner and must stay until its done() has been called. Jobs of one worker run one after
 * another in the order they were submitted.
 */
#ifndef INIS_OS_WORKER_H
#define INIS_OS_WORKER_H

#include <pthread.h>

#include "os/events.h"

struct inis_job {
	void (*work)(struct inis_job *job); /* on the worker's thread */
	void (*done)(struct inis_job *job); /* on the loop's thread */
	struct inis_job *next;
};

struct inis_worker {
	struct inis_events *events;
	struct inis_watch watch; /* an eventfd that counts finished jobs */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct inis_job *todo;
	struct inis_job *finished;
	bool ending;
	bool running;
};

int inis_worker_start(struct inis_worker *w, struct inis_events *events, struct inis_error *err);
void inis_worker_submit(struct inis_worker *w, struct inis_job *job);
/* Finishes what was submitted, calls done() for it, ends the thread. Harmless when not started. */
void inis_worker_stop(struct inis_worker *w);

#endif
