/* SPDX-License-Identifier: Apache-2.0
 *
 * search_unit_test.c - searches in a real unit: with the guest's rights, as fast as the client takes them, and gone
 * when nobody wants them any more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "client.h"
#include "wire/search_proto.h"

#define LONG_MS 600000

static uint32_t search(enum inis_frame_type type, const char *pattern, uint32_t max_results, uint32_t budget_ms)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_search m = {
		.path = str("."), .pattern = str(pattern), .max_results = max_results, .budget_ms = budget_ms};
	uint32_t channel = client_channel(&client);

	inis_search_pack(&b, &m);
	client_send_buf(&client, channel, type, &b);
	return channel;
}

/* Takes the answer to its end; how many records of this kind came. */
static unsigned take(uint32_t channel, enum inis_record_kind kind, uint32_t *flags)
{
	cleanup_buf struct inis_buf records = INIS_BUF_INIT(0);
	unsigned count = 0;
	struct inis_unpack u;
	struct inis_record r;
	struct inis_frame f;
	uint64_t got = 0;
	ssize_t n;

	for (;;) {
		assert_true(client_next(&client, &f));
		assert_int_equal(f.channel, channel);
		inis_unpack_init(&u, f.payload, f.length);
		if (f.type != INIS_F_OUT)
			break;
		assert_int_equal(inis_unpack_u64(&u), got);
		got += u.left;
		inis_buf_append(&records, u.at, u.left);
		client_ack(&client, channel, got, 0);
	}
	assert_int_equal(f.type, INIS_F_END);
	*flags = inis_unpack_u32(&u);
	while ((n = inis_record_unpack(records.data, records.len, &r)) > 0) {
		count += r.kind == kind;
		inis_buf_consume(&records, (size_t)n);
	}
	assert_int_equal(n, 0);
	return count;
}

static void expect_nothing_running(void)
{
	for (int i = 0; i < 1000 && (unit_guests(&unit) > 0 || unit_leaves(&unit) > 1); i++)
		usleep(10000);
	assert_int_equal(unit_guests(&unit), 0);
	assert_true(unit_leaves(&unit) <= 1);
}

static void find_and_grep_answer_with_records(void **state)
{
	uint32_t flags;

	(void)state;
	client_succeed("mkdir -p s/a && echo one >s/a/f && echo two >s/g");
	assert_int_equal(take(search(INIS_F_FILE_FIND, "s/**", 100, LONG_MS), INIS_RECORD_FOUND, &flags), 3);
	assert_int_equal(flags, 0);
	assert_int_equal(take(search(INIS_F_FILE_FIND, "s/**", 2, LONG_MS), INIS_RECORD_FOUND, &flags), 2);
	assert_int_equal(flags, INIS_END_TRUNCATED);
	assert_int_equal(take(search(INIS_F_FILE_GREP, "^(one|two)$", 100, LONG_MS), INIS_RECORD_MATCH, &flags), 2);
	assert_int_equal(flags, 0);
	expect_nothing_running();
}

static void a_bad_pattern_is_told_with_its_field(void **state)
{
	(void)state;
	client_expect_error(&client, search(INIS_F_FILE_GREP, "(", 1, LONG_MS), INIS_BAD_REQUEST, "invalid pattern");
	client_expect_error(&client, search(INIS_F_FILE_GREP, "(?=x)", 1, LONG_MS), INIS_BAD_REQUEST, "unsupported");
	client_expect_error(&client, search(INIS_F_FILE_FIND, "[", 1, LONG_MS), INIS_BAD_REQUEST, "invalid pattern");
	client_expect_error(&client, search(INIS_F_FILE_FIND, "x", 0, LONG_MS), INIS_BAD_REQUEST, "malformed");
}

static void a_search_has_the_rights_of_the_guest_user(void **state)
{
	uint32_t flags;

	(void)state;
	client_succeed("mkdir locked && echo needle >locked/f && chmod 0 locked && echo needle >plain");
	assert_int_equal(take(search(INIS_F_FILE_GREP, "needle", 100, LONG_MS), INIS_RECORD_MATCH, &flags), 1);
	client_succeed("chmod 700 locked");
}

/* The rest waits in the unit until it is asked for, or the client leaves. */
static void more_than_the_windows_hold_comes_whole_or_is_dropped(void **state)
{
	uint32_t channel, flags;

	(void)state;
	client_succeed(
		"mkdir many && cd many && for i in $(seq 9000); do echo >$i-a-name-that-is-long-enough-to-fill-the-windows; done");
	channel = search(INIS_F_FILE_FIND, "many/*", 10000, LONG_MS);
	assert_int_equal(take(channel, INIS_RECORD_FOUND, &flags), 9000);
	assert_int_equal(flags, 0);
	channel = search(INIS_F_FILE_FIND, "many/*", 10000, LONG_MS);
	client_release(&client, channel);
	expect_nothing_running();
}

static void a_release_ends_the_search(void **state)
{
	uint32_t channel;

	(void)state;
	client_succeed(
		"for i in $(seq 20); do yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! | head -c 4000000 >slow$i; done");
	channel = search(INIS_F_FILE_GREP, "(a|aa)+$", 1, LONG_MS);
	for (int i = 0; i < 1000 && unit_guests(&unit) == 0; i++)
		usleep(10000);
	assert_true(unit_guests(&unit) > 0);
	client_release(&client, channel);
	expect_nothing_running();
}

static void a_search_ends_with_its_budget(void **state)
{
	uint32_t flags;

	(void)state;
	take(search(INIS_F_FILE_GREP, "(a|aa)+$", 1, 200), INIS_RECORD_MATCH, &flags);
	assert_int_equal(flags, INIS_END_TRUNCATED);
	expect_nothing_running();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(find_and_grep_answer_with_records),
		cmocka_unit_test(a_bad_pattern_is_told_with_its_field),
		cmocka_unit_test(a_search_has_the_rights_of_the_guest_user),
		cmocka_unit_test(more_than_the_windows_hold_comes_whole_or_is_dropped),
		cmocka_unit_test(a_release_ends_the_search),
		cmocka_unit_test(a_search_ends_with_its_budget),
	};

	return run_with_client(tests, 0);
}
