/* SPDX-License-Identifier: Apache-2.0
 *
 * refusals.c - what the broker refuses, and that it lives on.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/id.h"
#include "harness.h"

static const struct unit_id unknown = {"0123456789abcdef"};

static void unknown_units_are_not_found(void **state)
{
	static const enum inis_broker_verb verbs[] = {INIS_B_CONNECT, INIS_B_FREEZE, INIS_B_THAW, INIS_B_STATS};
	struct bench b;
	struct inis_broker_msg msg;

	(void)state;
	bench_init(&b, 0);
	bench_start(&b);
	for (unsigned i = 0; i < 4; i++) {
		unit_message(&msg, verbs[i], &unknown);
		assert_int_equal(bench_ask(&b, &msg).msg.code, INIS_NOT_FOUND);
	}
	bench_free(&b);
}

static enum inis_code create_code(struct bench *b, struct inis_broker_msg *msg)
{
	struct reply r = bench_ask(b, msg);

	assert_int_equal(r.fd, -1);
	assert_string_not_equal(r.msg.message, "");
	return (enum inis_code)r.msg.code;
}

static void creates_that_cannot_be_are_refused_and_make_nothing(void **state)
{
	struct bench b;
	struct inis_broker_msg msg;

	(void)state;
	bench_init(&b, 0);
	bench_start(&b);
	create_message(&msg);
	strcpy(msg.u.create.template_name, "../../etc");
	assert_int_equal(create_code(&b, &msg), INIS_NOT_FOUND);
	create_message(&msg);
	msg.u.create.mem_mb = 1;
	assert_int_equal(create_code(&b, &msg), INIS_BAD_REQUEST);
	create_message(&msg);
	msg.u.create.disk_mb = 1;
	assert_int_equal(create_code(&b, &msg), INIS_BAD_REQUEST);
	create_message(&msg);
	strcpy(msg.u.create.hostname, "a\n127.0.0.1 b");
	assert_int_equal(create_code(&b, &msg), INIS_BAD_REQUEST);
	create_message(&msg);
	msg.u.create.disk_mb = UINT32_MAX;
	assert_int_equal(create_code(&b, &msg), INIS_BAD_REQUEST);
	assert_int_equal(bench_count(&b), 0);
	bench_free(&b);
}

static void verbs_that_are_not_built_say_so(void **state)
{
	static const enum inis_broker_verb verbs[] = {INIS_B_RESIZE, INIS_B_SNAPSHOT, INIS_B_RESTORE, INIS_B_FORK,
						      INIS_B_NETNS_SOCKET};
	struct bench b;
	struct inis_broker_msg msg;

	(void)state;
	bench_init(&b, 0);
	bench_start(&b);
	for (unsigned i = 0; i < 5; i++) {
		inis_broker_msg_init(&msg, verbs[i], 0);
		assert_int_equal(bench_ask(&b, &msg).msg.code, INIS_NOT_IMPLEMENTED);
	}
	bench_free(&b);
}

static void expect_dropped(struct bench *b, const void *data, size_t n)
{
	char byte;

	assert_int_equal(send(b->front, data, n, MSG_NOSIGNAL), n);
	for (int i = 0; i < 6000; i++) {
		if (recv(b->front, &byte, 1, 0) == 0)
			return;
		usleep(10000);
	}
	fail_msg("the broker kept a front that talks nonsense");
}

static void a_front_that_talks_nonsense_is_dropped_and_the_next_one_served(void **state)
{
	struct bench b;
	struct inis_broker_msg msg;
	struct unit_id id;

	(void)state;
	bench_init(&b, 0);
	bench_start(&b);
	id = bench_create(&b, NULL);
	expect_dropped(&b, "nonsense", 8);
	bench_new_front(&b);
	inis_broker_msg_init(&msg, INIS_B_LIST, 1);
	msg.magic++;
	expect_dropped(&b, &msg, sizeof(msg));
	bench_new_front(&b);
	unit_message(&msg, INIS_B_CONNECT, &unknown);
	msg.request = 1;
	memset(msg.unit_id.s, '/', sizeof(msg.unit_id.s));
	expect_dropped(&b, &msg, sizeof(msg));
	bench_new_front(&b);
	assert_int_equal(bench_count(&b), 1);
	bench_destroy(&b, &id);
	bench_free(&b);
}

static void a_front_of_another_build_is_told(void **state)
{
	struct bench b;
	struct inis_broker_msg msg;

	(void)state;
	bench_init(&b, 0);
	bench_start(&b);
	inis_broker_msg_init(&msg, INIS_B_HELLO, 0);
	msg.u.hello.version = INIS_BROKER_VERSION + 1;
	msg.u.hello.struct_size = sizeof(msg);
	assert_int_equal(bench_ask(&b, &msg).msg.code, INIS_INTERNAL);
	bench_free(&b);
}

/* The first word that is wrong with the machine must be in what the broker says. */
static void expect_refusal(const char *agent, const char *state_fs, const char *word)
{
	struct bench b;
	struct inis_broker_started started;
	int status;

	bench_init(&b, 1);
	if (state_fs)
		assert_int_equal(mount("none", b.state_dir, state_fs, 0, "mode=711"), 0);
	started = bench_try_start(&b, agent, SYSTEM_PATH);
	assert_int_not_equal(started.code, INIS_OK);
	if (!strstr(started.message, word))
		fail_msg("\"%s\" does not name %s", started.message, word);
	assert_int_equal(waitpid(b.broker, &status, 0), b.broker);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	b.broker = -1;
	close(b.control);
	if (state_fs)
		assert_int_equal(umount2(b.state_dir, MNT_DETACH), 0);
	bench_free(&b);
}

static void T11_a_broker_that_cannot_make_units_refuses_to_start_and_says_why(void **state)
{
	(void)state;
	expect_refusal("/nonexistent/inis-agent", NULL, "/nonexistent/inis-agent");
	/* Starts, but is no agent. */
	expect_refusal("/bin/true", NULL, "/bin/true");
	/* A file system that can be no layer. */
	expect_refusal(AGENT_PROGRAM, "ramfs", "file system of the state directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_units_are_not_found),
		cmocka_unit_test(creates_that_cannot_be_are_refused_and_make_nothing),
		cmocka_unit_test(verbs_that_are_not_built_say_so),
		cmocka_unit_test(a_front_that_talks_nonsense_is_dropped_and_the_next_one_served),
		cmocka_unit_test(a_front_of_another_build_is_told),
		cmocka_unit_test(T11_a_broker_that_cannot_make_units_refuses_to_start_and_says_why),
	};

	return run_broker_tests("broker_refusals", tests);
}
