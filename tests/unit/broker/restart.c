/* SPDX-License-Identifier: Apache-2.0
 *
 * restart.c - units outlive their broker: the next one takes over what lives and removes what does not.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness.h"
#include "traces.h"

static void connect_and_close(struct bench *b, const struct unit_id *id)
{
	struct inis_broker_msg msg;
	struct reply r;

	unit_message(&msg, INIS_B_CONNECT, id);
	r = bench_ask(b, &msg);
	assert_string_equal(r.msg.message, "");
	assert_true(r.fd >= 0);
	close(r.fd);
}

static void expect_only(struct bench *b, const struct traces *before)
{
	struct traces after;

	/* What the dead broker's pool was ends by itself, a moment later. */
	for (int i = 0; i < 600; i++) {
		bench_reap();
		after = traces_count(b->state_dir, b->instance);
		if (memcmp(&after, before, sizeof(after)) == 0)
			return;
		usleep(50000);
	}
	fail_msg("left: %d cgroups, %d loops, %d processes, %d files, %d mounts", after.cgroups - before->cgroups,
		 after.loops - before->loops, after.processes - before->processes, after.files - before->files,
		 after.mounts - before->mounts);
}

static void a_unit_survives_its_broker(struct bench *b, int signal)
{
	struct traces before = traces_count(b->state_dir, b->instance);
	struct inis_broker_unit first;
	struct inis_broker_unit second;
	struct inis_broker_msg msg;
	struct unit_id id;
	struct unit_id frozen;

	bench_start(b);
	id = bench_create(b, NULL);
	frozen = bench_create(b, NULL);
	unit_message(&msg, INIS_B_FREEZE, &frozen);
	assert_int_equal(bench_ask(b, &msg).msg.code, INIS_OK);
	first = bench_row(b, &id);
	bench_wait_pool(b, 2);
	bench_stop(b, signal);

	bench_start(b);
	assert_int_equal(bench_count(b), 2);
	second = bench_row(b, &id);
	assert_memory_equal(&first, &second, sizeof(first));
	assert_true(bench_row(b, &frozen).frozen);
	connect_and_close(b, &id);
	unit_message(&msg, INIS_B_STATS, &id);
	assert_int_equal(bench_ask(b, &msg).msg.code, INIS_OK);
	kill(second.pid, SIGKILL);
	/* No longer the broker's child, and still it notices. */
	assert_int_equal(bench_receive(b).msg.verb, INIS_B_EVENT_EXITED);
	bench_reap();
	bench_destroy(b, &id);
	bench_destroy(b, &frozen);
	bench_stop(b, SIGTERM);
	expect_only(b, &before);
	bench_free(b);
}

static void units_survive_a_broker_that_ends_in_order(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, 2);
	a_unit_survives_its_broker(&b, SIGTERM);
}

static void units_survive_a_broker_that_is_killed(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, 2);
	a_unit_survives_its_broker(&b, SIGKILL);
}

/* Killed again and again at moments of all kinds: what is listed afterwards works, what is not listed is gone. */
static void L1_a_broker_killed_at_any_moment_leaves_only_what_the_next_one_lists(void **state)
{
	struct bench b;
	struct traces before;
	struct inis_broker_msg msg;

	(void)state;
	bench_init(&b, 2);
	before = traces_count(b.state_dir, b.instance);
	for (int round = 0; round < 12; round++) {
		struct unit_id ids[64];
		unsigned n = 0;
		struct reply r;

		bench_start(&b);
		inis_broker_msg_init(&msg, INIS_B_LIST, 0);
		bench_send(&b, &msg);
		while ((r = bench_receive(&b)).msg.flags & INIS_B_MORE) {
			assert_true(n < 64);
			ids[n++] = r.msg.u.unit.id;
		}
		for (unsigned i = 0; i < n; i++)
			connect_and_close(&b, &ids[i]);
		for (int i = 0; i < 4; i++) {
			create_message(&msg);
			bench_send(&b, &msg);
		}
		for (unsigned i = 0; i < n; i++) {
			unit_message(&msg, INIS_B_DESTROY, &ids[i]);
			bench_send(&b, &msg);
		}
		usleep((useconds_t)(1000 + round * 4000));
		bench_stop(&b, SIGKILL);
		bench_reap();
	}
	bench_start(&b);
	for (;;) {
		struct unit_id id = {""};
		struct reply r;

		inis_broker_msg_init(&msg, INIS_B_LIST, 0);
		bench_send(&b, &msg);
		while ((r = bench_receive(&b)).msg.flags & INIS_B_MORE)
			id = r.msg.u.unit.id;
		if (id.s[0] == '\0')
			break;
		bench_destroy(&b, &id);
	}
	bench_stop(&b, SIGTERM);
	expect_only(&b, &before);
	bench_free(&b);
}

/* With no next broker to tidy up: who waits for a broker that is gone must see it go. */
static void a_pool_ends_with_its_broker_at_whatever_moment(void **state)
{
	struct bench b;
	struct traces before;

	(void)state;
	bench_init(&b, 6);
	before = traces_count(b.state_dir, b.instance);
	for (int round = 0; round < 12; round++) {
		unsigned left = 1;

		bench_start(&b);
		usleep((useconds_t)(round * 3000));
		bench_stop(&b, SIGKILL);
		for (int i = 0; left > 0 && i < 600; i++) {
			bench_reap();
			left = traces_count(b.state_dir, b.instance).processes;
			if (left > 0)
				usleep(50000);
		}
		assert_int_equal(left, 0);
	}
	bench_start(&b);
	bench_stop(&b, SIGTERM);
	expect_only(&b, &before);
	bench_free(&b);
}

static void make_dir(const char *parent, const char *middle, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s/%s", parent, middle, name);
	if (mkdir(path, 0755) < 0)
		fail_msg("mkdir %s", path);
}

static void T6_half_made_units_and_stray_cgroups_are_removed_at_start(void **state)
{
	struct bench b;
	struct traces before;
	char path[256];
	int fd;

	(void)state;
	bench_init(&b, 0);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	bench_stop(&b, SIGKILL);
	bench_reap();
	make_dir(b.state_dir, "units", "aaaaaaaaaaaaaaaa");
	make_dir(b.state_dir, "units", "not-a-unit");
	snprintf(path, sizeof(path), "%s/units/aaaaaaaaaaaaaaaa/unit", b.state_dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "garbage", 7), 7);
	close(fd);
	if (access("/sys/fs/cgroup/unified", F_OK) == 0)
		make_dir("/sys/fs/cgroup/unified/inis", b.instance, "bbbbbbbbbbbbbbbb");
	else
		make_dir("/sys/fs/cgroup/inis", b.instance, "bbbbbbbbbbbbbbbb");
	bench_start(&b);
	assert_int_equal(bench_count(&b), 0);
	bench_stop(&b, SIGTERM);
	expect_only(&b, &before);
	bench_free(&b);
}

static void a_pid_that_was_given_to_another_process_is_not_taken_for_the_unit(void **state)
{
	struct bench b;
	struct traces before;
	struct inis_broker_unit row;
	struct unit_id id;
	char path[256];
	char bytes[1024];
	uint64_t other = 1;
	ssize_t n;
	int fd;

	(void)state;
	bench_init(&b, 0);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	id = bench_create(&b, NULL);
	row = bench_row(&b, &id);
	bench_stop(&b, SIGKILL);
	snprintf(path, sizeof(path), "%s/units/%s/unit", b.state_dir, id.s);
	fd = open(path, O_RDWR | O_CLOEXEC);
	n = read(fd, bytes, sizeof(bytes));
	for (ssize_t i = 0; i + 8 <= n; i++) {
		if (memcmp(bytes + i, &row.start_time, 8) == 0)
			assert_int_equal(pwrite(fd, &other, 8, i), 8);
	}
	close(fd);
	bench_start(&b);
	assert_int_equal(bench_count(&b), 0);
	bench_stop(&b, SIGTERM);
	expect_only(&b, &before);
	bench_free(&b);
}

static void another_front_finds_the_units_of_the_one_before(void **state)
{
	struct bench b;
	struct traces before;
	struct inis_broker_msg msg;
	struct unit_id id;

	(void)state;
	bench_init(&b, 1);
	before = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	create_message(&msg);
	bench_send(&b, &msg);
	/* Gone before the answer: the unit is made all the same, and listed. */
	bench_new_front(&b);
	for (int i = 0; bench_count(&b) == 0; i++) {
		assert_true(i < 3000);
		usleep(10000);
	}
	inis_broker_msg_init(&msg, INIS_B_LIST, 0);
	bench_send(&b, &msg);
	id = bench_receive(&b).msg.u.unit.id;
	bench_receive(&b);
	connect_and_close(&b, &id);
	bench_destroy(&b, &id);
	bench_stop(&b, SIGTERM);
	expect_only(&b, &before);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_survive_a_broker_that_ends_in_order),
		cmocka_unit_test(units_survive_a_broker_that_is_killed),
		cmocka_unit_test(L1_a_broker_killed_at_any_moment_leaves_only_what_the_next_one_lists),
		cmocka_unit_test(a_pool_ends_with_its_broker_at_whatever_moment),
		cmocka_unit_test(T6_half_made_units_and_stray_cgroups_are_removed_at_start),
		cmocka_unit_test(a_pid_that_was_given_to_another_process_is_not_taken_for_the_unit),
		cmocka_unit_test(another_front_finds_the_units_of_the_one_before),
	};

	return run_broker_tests("broker_restart", tests);
}
