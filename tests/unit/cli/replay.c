/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - what a terminal answers to a replay is dropped, up to the answer to our own question, and nothing more.
 */
#include "cli/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static size_t filter(struct cli_replay *r, const char *text)
{
	return cli_replay_filter(r, (const uint8_t *)text, strlen(text));
}

static void nothing_is_dropped_without_a_replay(void **state)
{
	struct cli_replay r = {.dropping = false};

	(void)state;
	assert_int_equal(filter(&r, "typed\x1b[0n"), 0);
}

static void all_is_dropped_up_to_the_answer_however_it_is_cut(void **state)
{
	static const char input[] = "\x1b[?64;1c\x1b\x1b[\x1b[0m\x1b]11;rgb:0/0/0\x07\x1b[0ntyped";
	const size_t dropped = strlen(input) - strlen("typed");

	(void)state;
	for (size_t cut = 1; cut < sizeof(input); cut++) {
		struct cli_replay r;
		size_t total = 0;

		cli_replay_begin(&r);
		cli_replay_asked(&r);
		for (size_t at = 0; at < strlen(input); at += cut) {
			char piece[sizeof(input)] = "";

			strncat(piece, input + at, cut);
			total += filter(&r, piece);
		}
		assert_int_equal(total, dropped);
		assert_false(r.dropping);
	}
}

static void a_terminal_that_does_not_answer_swallows_only_for_a_while(void **state)
{
	struct cli_replay r;

	(void)state;
	cli_replay_begin(&r);
	assert_int_equal(filter(&r, "early"), 5);
	cli_replay_asked(&r);
	assert_int_equal(filter(&r, "still"), 5);
	r.until = inis_now_ms() - 1;
	assert_int_equal(filter(&r, "typed"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_dropped_without_a_replay),
		cmocka_unit_test(all_is_dropped_up_to_the_answer_however_it_is_cut),
		cmocka_unit_test(a_terminal_that_does_not_answer_swallows_only_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
