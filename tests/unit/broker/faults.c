/* SPDX-License-Identifier: Apache-2.0
 *
 * faults.c - every system call of a create, of a spare and of a destroy fails once: the one request may fail, nothing
 * is left, and the broker goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fault_shim.h"
#include "harness.h"
#include "traces.h"

#define CALLS_MAX   400
#define PATIENCE_MS 60000

static struct faults *faults;
static char page_path[] = "/tmp/inis-faults-test.XXXXXX";

static int share_page(void **state)
{
	int fd = mkstemp(page_path);

	(void)state;
	if (fd < 0 || ftruncate(fd, sizeof(*faults)) < 0)
		return -1;
	faults = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	setenv(FAULT_ENV, page_path, 1);
	return faults == MAP_FAILED ? -1 : bench_group_setup(state);
}

static int drop_page(void **state)
{
	(void)state;
	return unlink(page_path);
}

static void arm(int call)
{
	faults->hit = 0;
	faults->countdown = call;
}

/* Whether a call failed since arm(). */
static bool disarm(void)
{
	faults->countdown = 0;
	return faults->hit;
}

static void start(struct bench *b)
{
	bench_init(b, 0);
	arm(0);
	setenv("LD_PRELOAD", FAULT_SHIM, 1);
	bench_start(b);
	unsetenv("LD_PRELOAD");
}

/* Dying units go in the background; a blank one that outlived the failure may stay. */
static void expect_back_to(struct bench *b, const struct traces *usual, int call)
{
	inis_ms deadline = inis_deadline_in(PATIENCE_MS);
	struct traces now;

	for (;;) {
		now = traces_count(b->state_dir, b->instance);
		if (memcmp(&now, usual, sizeof(now)) == 0)
			return;
		if (inis_now_ms() >= deadline)
			break;
		usleep(5000);
	}
	fail_msg("call %d (%s): %d cgroups, %d loops, %d processes, %d files, %d mounts too many", call, faults->name,
		 now.cgroups - usual->cgroups, now.loops - usual->loops, now.processes - usual->processes,
		 now.files - usual->files, now.mounts - usual->mounts);
}

static void L1_a_create_that_fails_at_any_call_leaves_nothing(void **state)
{
	struct bench b;
	struct traces usual;
	struct inis_broker_msg msg;
	struct unit_id first;
	bool hit = true;
	int failed = 0;
	int call;

	(void)state;
	start(&b);
	/* Takes the one blank unit, so that each create below makes its own, but for what the spare has. */
	first = bench_create(&b, NULL);
	usual = traces_await_disks(b.state_dir, b.instance, 2);
	for (call = 1; hit && call < CALLS_MAX; call++) {
		struct reply r;

		create_message(&msg);
		arm(call);
		r = bench_ask(&b, &msg);
		hit = disarm();
		if (r.msg.code == INIS_OK) {
			close(r.fd);
			bench_destroy(&b, &r.msg.unit_id);
		} else {
			assert_string_not_equal(r.msg.message, "");
			failed++;
		}
		expect_back_to(&b, &usual, call);
	}
	/* There were calls to fail, most of them mattered, and the last create had none left. */
	assert_in_range(call, 50, CALLS_MAX - 1);
	assert_true(failed > call / 2);
	bench_destroy(&b, &first);
	bench_free(&b);
}

static void L1_a_spare_that_fails_at_any_call_leaves_nothing_and_is_made_again(void **state)
{
	struct bench b;
	struct traces usual;
	struct unit_id taker;
	bool hit = true;
	int call;

	(void)state;
	start(&b);
	taker = bench_create(&b, NULL);
	for (call = 1; hit && call < CALLS_MAX; call++) {
		usual = traces_await_disks(b.state_dir, b.instance, 2);
		bench_destroy(&b, &taker);
		taker = bench_create(&b, NULL);
		arm(call);
		for (int i = 0; i < PATIENCE_MS && !faults->hit && traces_count(b.state_dir, b.instance).loops < 2; i++)
			usleep(1000);
		hit = disarm();
		expect_back_to(&b, &usual, call);
	}
	assert_in_range(call, 20, CALLS_MAX - 1);
	bench_destroy(&b, &taker);
	bench_free(&b);
}

static void L1_a_destroy_goes_through_whatever_call_fails(void **state)
{
	struct bench b;
	struct traces usual;
	struct inis_broker_msg msg;
	struct unit_id first;
	bool hit = true;
	int call;

	(void)state;
	start(&b);
	first = bench_create(&b, NULL);
	usual = traces_await_disks(b.state_dir, b.instance, 2);
	for (call = 1; hit && call < CALLS_MAX; call++) {
		struct unit_id id = bench_create(&b, NULL);

		unit_message(&msg, INIS_B_DESTROY, &id);
		arm(call);
		assert_int_equal(bench_ask(&b, &msg).msg.code, INIS_OK);
		hit = disarm();
		expect_back_to(&b, &usual, call);
	}
	assert_in_range(call, 5, CALLS_MAX - 1);
	bench_destroy(&b, &first);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(L1_a_create_that_fails_at_any_call_leaves_nothing),
		cmocka_unit_test(L1_a_spare_that_fails_at_any_call_leaves_nothing_and_is_made_again),
		cmocka_unit_test(L1_a_destroy_goes_through_whatever_call_fails),
	};

	return cmocka_run_group_tests_name("broker_faults", tests, share_page, drop_page);
}
