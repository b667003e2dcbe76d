/* SPDX-License-Identifier: Apache-2.0
 *
 * events.c - the loop fires timers in order, survives what is removed under its feet, and takes jobs back.
 */
#include "os/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "os/worker.h"

static struct inis_events ev;

static int set_up(void **state)
{
	(void)state;
	return inis_events_init(&ev, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	inis_events_free(&ev);
	return 0;
}

struct named_timer {
	struct inis_timer timer; /* first */
	char name;
};

static char fired[16];

static void note(struct inis_timer *t)
{
	char text[2] = {((struct named_timer *)t)->name, '\0'};

	strncat(fired, text, sizeof(fired) - strlen(fired) - 1);
}

static void no_time_passes_for_timers_while_the_loop_is_held(void **state)
{
	struct named_timer a = {.timer.fire = note, .name = 'a'};
	struct named_timer b = {.timer.fire = note, .name = 'b'};
	inis_ms before;

	(void)state;
	fired[0] = '\0';
	inis_timer_start(&ev, &a.timer, 20);
	inis_events_hold(&ev);
	before = inis_events_now(&ev);
	inis_timer_start(&ev, &b.timer, 30);
	for (inis_ms end = inis_now_ms() + 60; inis_now_ms() < end;)
		inis_events_step(&ev, 5, NULL);
	assert_string_equal(fired, "");
	assert_int_equal(inis_events_now(&ev), before);
	inis_events_release(&ev);
	assert_true(inis_now_ms() - inis_events_now(&ev) >= 60);
	while (strlen(fired) < 2)
		inis_events_step(&ev, 1000, NULL);
	assert_string_equal(fired, "ab");
	assert_true(inis_events_now(&ev) - before >= 30);
}

static void timers_fire_in_the_order_of_their_times(void **state)
{
	struct named_timer a = {.timer.fire = note, .name = 'a'};
	struct named_timer b = {.timer.fire = note, .name = 'b'};
	struct named_timer c = {.timer.fire = note, .name = 'c'};

	(void)state;
	fired[0] = '\0';
	inis_timer_start(&ev, &c.timer, 30);
	inis_timer_start(&ev, &a.timer, 1);
	inis_timer_start(&ev, &b.timer, 500000);
	inis_timer_start(&ev, &b.timer, 10);
	while (strlen(fired) < 3)
		assert_int_equal(inis_events_step(&ev, -1, NULL), 0);
	assert_string_equal(fired, "abc");
	assert_null(ev.timers);
	inis_timer_start(&ev, &a.timer, 0);
	inis_timer_stop(&ev, &a.timer);
	inis_events_step(&ev, 5, NULL);
	assert_string_equal(fired, "abc");
}

struct pair_watch {
	struct inis_watch watch; /* first */
	struct pair_watch *other;
	int calls;
};

static void stop_both(struct inis_watch *w, uint32_t events)
{
	struct pair_watch *p = (struct pair_watch *)w;

	(void)events;
	p->calls++;
	inis_watch_stop(&ev, &p->other->watch);
	inis_watch_stop(&ev, w);
}

/* Both are ready at once; the first to be called removes both. */
static void a_watch_that_another_callback_removed_is_not_called(void **state)
{
	struct pair_watch a = {.watch = INIS_WATCH_INIT(stop_both)};
	struct pair_watch b = {.watch = INIS_WATCH_INIT(stop_both), .other = &a};
	int fds[2][2];

	(void)state;
	a.other = &b;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(fds[i]), 0);
		assert_int_equal(write(fds[i][1], "x", 1), 1);
	}
	assert_int_equal(inis_watch_start(&ev, &a.watch, fds[0][0], EPOLLIN, NULL), 0);
	assert_int_equal(inis_watch_start(&ev, &b.watch, fds[1][0], EPOLLIN, NULL), 0);
	for (int i = 0; i < 4; i++)
		inis_events_step(&ev, 5, NULL);
	assert_int_equal(a.calls + b.calls, 1);
	for (int i = 0; i < 4; i++)
		close(fds[i / 2][i % 2]);
}

struct sum_job {
	struct inis_job job; /* first */
	int input;
	int square;
	int *sum;
};

static void square(struct inis_job *job)
{
	struct sum_job *s = (struct sum_job *)job;

	s->square = s->input * s->input;
}

static void add(struct inis_job *job)
{
	struct sum_job *s = (struct sum_job *)job;

	*s->sum += s->square;
}

static void jobs_come_back_to_the_loop_and_none_is_lost_at_the_end(void **state)
{
	struct inis_worker worker;
	struct sum_job jobs[100];
	int sum = 0;

	(void)state;
	assert_int_equal(inis_worker_start(&worker, &ev, NULL), 0);
	for (int i = 0; i < 100; i++) {
		jobs[i] = (struct sum_job){.job = {.work = square, .done = add}, .input = i, .sum = &sum};
		inis_worker_submit(&worker, &jobs[i].job);
		if (i == 50) {
			while (sum == 0)
				inis_events_step(&ev, 1000, NULL);
		}
	}
	inis_worker_stop(&worker);
	assert_int_equal(sum, 328350);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_time_passes_for_timers_while_the_loop_is_held),
		cmocka_unit_test(timers_fire_in_the_order_of_their_times),
		cmocka_unit_test(a_watch_that_another_callback_removed_is_not_called),
		cmocka_unit_test(jobs_come_back_to_the_loop_and_none_is_lost_at_the_end),
	};

	return cmocka_run_group_tests_name("os_events", tests, set_up, tear_down);
}
