/* SPDX-License-Identifier: Apache-2.0
 *
 * worker.c - a thread that does jobs for the loop.
 */
#include "store/worker.h"

#define FOREVER_MS (3600 * 1000)
#define LATER_MS   200 /* longest wait of what has no hurry */

/* Waits for jobs or the time of the next idle call. NULL with *stop: nothing is left and the end is wanted. */
static struct job *take_batch(struct worker *w, uint64_t wait_ms, bool *stop)
{
	struct job *batch;

	uv_mutex_lock(&w->lock);
	if (!w->queue && !w->stopping)
		uv_cond_timedwait(&w->wake, &w->lock, wait_ms * 1000000);
	batch = w->queue;
	w->queue = NULL;
	w->queue_tail = &w->queue;
	*stop = !batch && w->stopping;
	uv_mutex_unlock(&w->lock);
	return batch;
}

static void hand_back(struct worker *w, struct job *batch)
{
	uv_mutex_lock(&w->lock);
	*w->done_tail = batch;
	while (*w->done_tail)
		w->done_tail = &(*w->done_tail)->next;
	uv_mutex_unlock(&w->lock);
	uv_async_send(&w->async);
}

static void thread_main(void *arg)
{
	struct worker *w = arg;
	uint64_t wait_ms = w->idle ? w->idle(w->ctx) : FOREVER_MS;
	bool stop = false;

	while (!stop) {
		struct job *batch = take_batch(w, wait_ms, &stop);

		if (batch) {
			w->run(w->ctx, batch);
			hand_back(w, batch);
		}
		if (w->idle && !stop)
			wait_ms = w->idle(w->ctx);
	}
	if (w->last)
		w->last(w->ctx);
	uv_mutex_lock(&w->lock);
	w->stopped = true;
	uv_mutex_unlock(&w->lock);
	uv_async_send(&w->async);
}

/* Hands over what had no hurry, and `job` behind it when there is one. Woken outside the lock: it is free then. */
static void hand_over(struct worker *w, struct job *job)
{
	*w->later_tail = job;
	if (!w->later)
		return;
	uv_mutex_lock(&w->lock);
	*w->queue_tail = w->later;
	while (*w->queue_tail)
		w->queue_tail = &(*w->queue_tail)->next;
	uv_mutex_unlock(&w->lock);
	uv_cond_signal(&w->wake);
	w->later = NULL;
	w->later_tail = &w->later;
}

static void on_later(uv_timer_t *timer)
{
	hand_over(timer->data, NULL);
}

/* One of the two handles; the second one ends it. */
static void on_handle_closed(uv_handle_t *handle)
{
	struct worker *w = handle->data;

	if (--w->handles > 0)
		return;
	uv_cond_destroy(&w->wake);
	uv_mutex_destroy(&w->lock);
	w->active = false;
	w->closed(w->ctx);
}

static void on_async(uv_async_t *async)
{
	struct worker *w = async->data;
	struct job *job;
	bool stopped;

	uv_mutex_lock(&w->lock);
	job = w->done;
	w->done = NULL;
	w->done_tail = &w->done;
	stopped = w->stopped;
	uv_mutex_unlock(&w->lock);
	while (job) {
		struct job *next = job->next;

		job->finish(job);
		job = next;
	}
	if (!stopped || uv_is_closing((uv_handle_t *)async))
		return;
	if (w->has_thread)
		uv_thread_join(&w->thread);
	uv_close((uv_handle_t *)&w->timer, on_handle_closed);
	uv_close((uv_handle_t *)async, on_handle_closed);
}

int worker_start(struct worker *w, uv_loop_t *loop, struct inis_error *err)
{
	w->queue_tail = &w->queue;
	w->later_tail = &w->later;
	w->done_tail = &w->done;
	if (uv_mutex_init(&w->lock) < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "no lock for a thread");
	if (uv_cond_init(&w->wake) < 0) {
		uv_mutex_destroy(&w->lock);
		return inis_fail(err, INIS_UNAVAILABLE, "no lock for a thread");
	}
	if (uv_async_init(loop, &w->async, on_async) < 0) {
		uv_cond_destroy(&w->wake);
		uv_mutex_destroy(&w->lock);
		return inis_fail(err, INIS_UNAVAILABLE, "no event for a thread");
	}
	uv_timer_init(loop, &w->timer);
	w->async.data = w->timer.data = w;
	w->handles = 2;
	w->active = true;
	w->has_thread = uv_thread_create(&w->thread, thread_main, w) == 0;
	if (!w->has_thread)
		return inis_fail(err, INIS_UNAVAILABLE, "no thread");
	return 0;
}

void worker_add(struct worker *w, struct job *job)
{
	job->next = NULL;
	hand_over(w, job);
}

void worker_add_later(struct worker *w, struct job *job)
{
	job->next = NULL;
	if (!w->later)
		uv_timer_start(&w->timer, on_later, LATER_MS, 0);
	*w->later_tail = job;
	w->later_tail = &job->next;
}

void worker_stop(struct worker *w)
{
	hand_over(w, NULL);
	uv_mutex_lock(&w->lock);
	w->stopping = true;
	if (!w->has_thread)
		w->stopped = true;
	uv_cond_signal(&w->wake);
	uv_mutex_unlock(&w->lock);
	if (!w->has_thread)
		uv_async_send(&w->async);
}
