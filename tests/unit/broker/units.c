/* SPDX-License-Identifier: Apache-2.0
 *
 * units.c - the life of units: made, pooled, frozen, measured, ended, and nothing left of them.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness.h"
#include "traces.h"

static void a_unit_is_made_connected_and_destroyed(void **state)
{
	struct bench b;
	struct traces before;
	struct inis_broker_msg msg;
	struct unit_id id;
	struct reply r;
	int agent;

	(void)state;
	bench_init(&b, 0);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	id = bench_create(&b, &agent);
	unit_message(&msg, INIS_B_CONNECT, &id);
	r = bench_ask(&b, &msg);
	assert_int_equal(r.msg.code, INIS_OK);
	assert_true(r.fd >= 0);
	close(r.fd);
	close(agent);
	assert_int_equal(bench_count(&b), 1);
	bench_destroy(&b, &id);
	assert_int_equal(bench_count(&b), 0);
	bench_free_without_trace(&b, &before);
}

static void L1_fifty_units_one_after_another_leave_nothing(void **state)
{
	struct bench b;
	struct traces before;
	struct traces between;

	(void)state;
	bench_init(&b, 2);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	for (int i = 0; i < 50; i++) {
		struct unit_id id = bench_create(&b, NULL);

		bench_destroy(&b, &id);
	}
	bench_wait_pool(&b, 2);
	between = traces_await_disks(b.state_dir, b.instance, 3);
	/* The pool: two agents, each with the process for its first command, two directories with a disk and a record. */
	assert_int_equal(between.processes, before.processes + 4);
	/* And the spare: a directory with a disk. */
	assert_int_equal(between.files, before.files + 6 + 2);
	bench_free_without_trace(&b, &before);
}

static void L6_a_burst_larger_than_the_pool_never_fails(void **state)
{
	enum { BURST = 24 };
	struct bench b;
	struct traces before;
	struct inis_broker_msg msg;
	struct unit_id ids[BURST];

	(void)state;
	bench_init(&b, 3);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	for (int i = 0; i < BURST; i++) {
		create_message(&msg);
		bench_send(&b, &msg);
	}
	for (int i = 0; i < BURST; i++) {
		struct reply r = bench_receive(&b);

		assert_int_equal(r.msg.verb, INIS_B_CREATE);
		assert_string_equal(r.msg.message, "");
		assert_true(r.fd >= 0);
		close(r.fd);
		ids[i] = r.msg.unit_id;
	}
	assert_int_equal(bench_count(&b), BURST);
	for (int i = 0; i < BURST; i++) {
		unit_message(&msg, INIS_B_DESTROY, &ids[i]);
		bench_send(&b, &msg);
	}
	for (int i = 0; i < BURST; i++)
		assert_int_equal(bench_receive(&b).msg.code, INIS_OK);
	assert_int_equal(bench_count(&b), 0);
	bench_free_without_trace(&b, &before);
}

static void a_frozen_unit_thaws_and_can_be_destroyed_frozen(void **state)
{
	struct bench b;
	struct traces before;
	struct inis_broker_msg msg;
	struct unit_id id;

	(void)state;
	bench_init(&b, 0);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	id = bench_create(&b, NULL);
	for (int i = 0; i < 3; i++) {
		unit_message(&msg, INIS_B_FREEZE, &id);
		assert_int_equal(bench_ask(&b, &msg).msg.code, INIS_OK);
		assert_true(bench_row(&b, &id).frozen);
		unit_message(&msg, INIS_B_THAW, &id);
		assert_int_equal(bench_ask(&b, &msg).msg.code, INIS_OK);
		assert_false(bench_row(&b, &id).frozen);
	}
	unit_message(&msg, INIS_B_FREEZE, &id);
	assert_int_equal(bench_ask(&b, &msg).msg.code, INIS_OK);
	bench_destroy(&b, &id);
	bench_free_without_trace(&b, &before);
}

static void L5_the_death_of_a_units_first_process_is_told(void **state)
{
	struct bench b;
	struct traces before;
	struct inis_broker_msg msg;
	struct unit_id id;
	struct reply r;

	(void)state;
	bench_init(&b, 0);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	id = bench_create(&b, NULL);
	kill(bench_row(&b, &id).pid, SIGKILL);
	r = bench_receive(&b);
	assert_int_equal(r.msg.verb, INIS_B_EVENT_EXITED);
	assert_string_equal(r.msg.unit_id.s, id.s);
	assert_false(bench_row(&b, &id).alive);
	unit_message(&msg, INIS_B_CONNECT, &id);
	assert_int_equal(bench_ask(&b, &msg).msg.code, INIS_SESSION_ENDED);
	bench_destroy(&b, &id);
	bench_free_without_trace(&b, &before);
}

static void destroys_of_one_unit_at_the_same_time_are_all_answered(void **state)
{
	struct bench b;
	struct traces before;
	struct inis_broker_msg msg;
	struct unit_id id;
	struct unit_id unknown = {"0123456789abcdef"};

	(void)state;
	bench_init(&b, 0);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	id = bench_create(&b, NULL);
	for (int i = 0; i < 3; i++) {
		unit_message(&msg, INIS_B_DESTROY, &id);
		bench_send(&b, &msg);
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(bench_receive(&b).msg.code, INIS_OK);
	bench_destroy(&b, &id);
	bench_destroy(&b, &unknown);
	bench_free_without_trace(&b, &before);
}

static void a_disk_of_another_size_is_made_for_the_one_who_asks(void **state)
{
	struct bench b;
	struct traces before;
	struct inis_broker_msg msg;
	struct reply r;

	(void)state;
	bench_init(&b, 1);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	create_message(&msg);
	msg.u.create.disk_mb = 64;
	r = bench_ask(&b, &msg);
	assert_int_equal(r.msg.code, INIS_OK);
	close(r.fd);
	assert_int_equal(r.msg.u.unit.disk_mb, 64);
	bench_destroy(&b, &r.msg.unit_id);
	bench_free_without_trace(&b, &before);
}

static void usage_is_measured(void **state)
{
	struct bench b;
	struct traces before;
	struct inis_broker_msg msg;
	struct unit_id id;
	struct reply r;

	(void)state;
	bench_init(&b, 0);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	id = bench_create(&b, NULL);
	unit_message(&msg, INIS_B_STATS, &id);
	r = bench_ask(&b, &msg);
	assert_int_equal(r.msg.code, INIS_OK);
	assert_true(r.msg.u.stats.mem_bytes > 0);
	assert_true(r.msg.u.stats.mem_peak_bytes >= r.msg.u.stats.mem_bytes / 2);
	assert_true(r.msg.u.stats.cpu_us > 0);
	/* The agent, and the process that waits for a command. */
	assert_int_equal(r.msg.u.stats.pids, 2);
	assert_int_equal(r.msg.u.stats.oom_kills, 0);
	assert_in_range(r.msg.u.stats.disk_bytes, 1, 64 << 20);
	bench_destroy(&b, &id);
	bench_free_without_trace(&b, &before);
}

/* Without mkfs there are no images; what is left is a directory, and the API must say so. */
static void without_disk_images_the_disk_is_soft_and_leaves_nothing_either(void **state)
{
	struct bench b;
	struct traces before;
	struct inis_broker_msg msg;
	struct unit_id id;

	(void)state;
	bench_init(&b, 1);
	before = traces_count(b.state_dir, b.instance);
	assert_int_equal(bench_try_start(&b, AGENT_PROGRAM, "/nonexistent").code, INIS_OK);
	bench_new_front(&b);
	id = bench_create(&b, NULL);
	assert_int_equal(bench_row(&b, &id).disk_kind, INIS_DISK_SOFT);
	/* Counted in the background: the guest's /etc is there from the start. */
	for (int i = 0;; i++) {
		struct reply r;

		unit_message(&msg, INIS_B_STATS, &id);
		r = bench_ask(&b, &msg);
		assert_int_equal(r.msg.code, INIS_OK);
		if (r.msg.u.stats.disk_bytes > 0)
			break;
		assert_true(i < 6000);
		usleep(10000);
	}
	bench_destroy(&b, &id);
	bench_free_without_trace(&b, &before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_unit_is_made_connected_and_destroyed),
		cmocka_unit_test(L1_fifty_units_one_after_another_leave_nothing),
		cmocka_unit_test(L6_a_burst_larger_than_the_pool_never_fails),
		cmocka_unit_test(a_frozen_unit_thaws_and_can_be_destroyed_frozen),
		cmocka_unit_test(L5_the_death_of_a_units_first_process_is_told),
		cmocka_unit_test(destroys_of_one_unit_at_the_same_time_are_all_answered),
		cmocka_unit_test(a_disk_of_another_size_is_made_for_the_one_who_asks),
		cmocka_unit_test(usage_is_measured),
		cmocka_unit_test(without_disk_images_the_disk_is_soft_and_leaves_nothing_either),
	};

	return run_broker_tests("broker_units", tests);
}
