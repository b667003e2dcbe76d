/* SPDX-License-Identifier: Apache-2.0
 *
 * id.c - only what has the exact form becomes an id.
 */
#include "base/id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void new_ids_parse_and_differ(void **state)
{
	struct session_id a, b, parsed;
	struct unit_id unit, unit_parsed;

	(void)state;
	for (int i = 0; i < 200; i++) {
		assert_int_equal(session_id_new(&a, NULL), 0);
		assert_int_equal(session_id_new(&b, NULL), 0);
		assert_true(session_id_parse(a.s, &parsed));
		assert_string_equal(parsed.s, a.s);
		assert_string_not_equal(a.s, b.s);
		assert_int_equal(unit_id_new(&unit, NULL), 0);
		assert_true(unit_id_parse(unit.s, &unit_parsed));
	}
}

static void other_texts_are_no_ids(void **state)
{
	static const char *const bad[] = {"",
					  "abc",
					  "aaaaaaaaaaaaaaaaaaaa",
					  "aaaaaaaaaaaaaaaaaaaaaa",
					  "Aaaaaaaaaaaaaaaaaaaaa",
					  "../../../../../../etc",
					  "aaaaaaaaaaaaaaaaaaaa/",
					  "aaaaaaaaaaaaaaaaaaa\n",
					  "aaaaaaaaaaaaaaaaaa\xc3\xa9"};
	struct session_id id;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(session_id_parse(bad[i], &id));
	assert_false(session_id_parse(NULL, &id));
}

static void request_ids_have_their_prefix(void **state)
{
	struct request_id id;

	(void)state;
	request_id_new(&id);
	assert_int_equal(strncmp(id.s, "req_", 4), 0);
	assert_int_equal(strlen(id.s), INIS_REQUEST_ID_LEN);
}

static void process_names_are_url_safe(void **state)
{
	char longest[INIS_PROC_NAME_MAX + 2];

	(void)state;
	assert_true(proc_name_valid("mastra-0f8fad5b-d9cb-469f-a165-70867728950e"));
	assert_true(proc_name_valid("a.b_C-9"));
	assert_true(proc_name_valid("..."));
	assert_false(proc_name_valid(""));
	assert_false(proc_name_valid("."));
	assert_false(proc_name_valid(".."));
	assert_false(proc_name_valid("a/b"));
	assert_false(proc_name_valid("a b"));
	assert_false(proc_name_valid("a\n"));
	assert_false(proc_name_valid(NULL));
	memset(longest, 'x', sizeof(longest));
	longest[INIS_PROC_NAME_MAX + 1] = '\0';
	assert_false(proc_name_valid(longest));
	longest[INIS_PROC_NAME_MAX] = '\0';
	assert_true(proc_name_valid(longest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_ids_parse_and_differ),
		cmocka_unit_test(other_texts_are_no_ids),
		cmocka_unit_test(request_ids_have_their_prefix),
		cmocka_unit_test(process_names_are_url_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
