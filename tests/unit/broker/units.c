/* SPDX-License-Identifier: Apache-2.0
 *
 * units.c - what the broker promises about units, over its socket and with the real agent.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "harness.h"
#include "traces.h"

static void a_unit_is_made_connected_and_destroyed_without_a_trace(void **state)
{
	struct bench b;
	struct traces before;
	struct traces after;
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
	after = traces_count(b.state_dir, b.instance);
	bench_stop(&b, SIGTERM);
	after = traces_count(b.state_dir, b.instance);
	assert_memory_equal(&before, &after, sizeof(before));
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_unit_is_made_connected_and_destroyed_without_a_trace),
	};

	/* Units outlive their broker: they become ours to reap. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	return cmocka_run_group_tests_name("broker", tests, NULL, NULL);
}
