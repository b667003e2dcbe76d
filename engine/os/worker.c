/* SPDX-License-Identifier: Apache-2.0
 *
 * worker.c - one thread for what blocks.
 */
#include "os/worker.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"

static void append(struct inis_job **list, struct inis_job *job)
{
	while (*list)
		list = &(*list)->next;
	job->next = NULL;
	*list = job;
}

static struct inis_job *take_first(struct inis_job **list)
{
	struct inis_job *job = *list;

	if (job)
		*list = job->next;
	return job;
}

static void *run(void *arg)
{
	struct inis_worker *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		struct inis_job *job = take_first(&w->todo);

		if (!job && w->ending)
			break;
		if (!job) {
			pthread_cond_wait(&w->more, &w->lock);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		job->work(job);
		pthread_mutex_lock(&w->lock);
		append(&w->finished, job);
		eventfd_write(w->watch.fd, 1);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void finish_all(struct inis_worker *w)
{
	struct inis_job *job;

	for (;;) {
		pthread_mutex_lock(&w->lock);
		job = take_first(&w->finished);
		pthread_mutex_unlock(&w->lock);
		if (!job)
			return;
		job->done(job);
	}
}

static void on_finished(struct inis_watch *watch, uint32_t events)
{
	struct inis_worker *w = (struct inis_worker *)((char *)watch - offsetof(struct inis_worker, watch));
	eventfd_t count;

	(void)events;
	eventfd_read(watch->fd, &count);
	finish_all(w);
}

/* Signals stay with the loop. */
static int start_thread(struct inis_worker *w)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int inis_worker_start(struct inis_worker *w, struct inis_events *events, struct inis_error *err)
{
	cleanup_close int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	*w = (struct inis_worker){.events = events, .watch = INIS_WATCH_INIT(on_finished)};
	if (fd < 0)
		return inis_fail_errno(err, "eventfd");
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	if (inis_watch_start(events, &w->watch, fd, EPOLLIN, err) < 0)
		return -1;
	errno = start_thread(w);
	if (errno != 0) {
		inis_fail_errno(err, "start a thread");
		inis_watch_stop(events, &w->watch);
		return -1;
	}
	w->running = true;
	take_fd(&fd);
	return 0;
}

void inis_worker_submit(struct inis_worker *w, struct inis_job *job)
{
	pthread_mutex_lock(&w->lock);
	append(&w->todo, job);
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}

void inis_worker_stop(struct inis_worker *w)
{
	int fd = w->watch.fd;

	if (!w->running)
		return;
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	w->running = false;
	finish_all(w);
	inis_watch_stop(w->events, &w->watch);
	close_fd(&fd);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->more);
}
