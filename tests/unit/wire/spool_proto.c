/* SPDX-License-Identifier: Apache-2.0
 *
 * spool_proto.c - names and records of the spool directory come back as they were; all others are none.
 */
#include "wire/spool_proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

#define LONGEST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" /* 64 */

static void a_name_comes_back(const char *process, bool is_err, uint64_t start, const char *text)
{
	struct inis_spool_name n = {.is_err = is_err, .start = start};
	struct inis_spool_name back;
	char out[INIS_SPOOL_NAME_SIZE];

	snprintf(n.process, sizeof(n.process), "%s", process);
	inis_spool_name_put(&n, out);
	assert_string_equal(out, text);
	assert_true(inis_spool_name_parse(out, &back));
	assert_string_equal(back.process, process);
	assert_int_equal(back.is_err, is_err);
	assert_int_equal(back.start, start);
}

static void names_come_back(void **state)
{
	(void)state;
	a_name_comes_back("web", false, 0, "web@out@0000000000000000");
	a_name_comes_back("a.b_c-9", true, 0x100000, "a.b_c-9@err@0000000000100000");
	a_name_comes_back(LONGEST, true, 1ULL << 53, LONGEST "@err@0020000000000000");
}

static void everything_else_is_no_name(void **state)
{
	static const char *const wrong[] = {
		"",
		".",
		"..",
		"table",
		"@out@0000000000000000",
		".@out@0000000000000000",
		"..@out@0000000000000000",
		"a/b@out@0000000000000000",
		"a b@out@0000000000000000",
		"a@in@0000000000000000",
		"a@OUT@0000000000000000",
		"a@out@000000000000000",
		"a@out@00000000000000000",
		"a@out@000000000000000G",
		"a@out@000000000000000A",
		"a@out@ 00000000000000f",
		"a@out@0x00000000000000",
		"a@out@0020000000000001",
		"a@out@ffffffffffffffff",
		"a@out@0000000000000000 ",
		LONGEST "a@out@0000000000000000",
	};
	struct inis_spool_name out;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (inis_spool_name_parse(wrong[i], &out))
			fail_msg("%s was taken for a name", wrong[i]);
	}
}

static struct inis_proc_info sample(struct inis_str *argv, uint32_t argc)
{
	return (struct inis_proc_info){.name = {"web", 3},
				       .pid = 7,
				       .exit = {.exit_code = 3, .out_total = 10},
				       .started_wall_ms = 1000,
				       .ended_wall_ms = 2000,
				       .argc = argc,
				       .argv = argv};
}

static void a_record_comes_back(void **state)
{
	struct inis_str argv[] = {{"sh", 2}, {"-c", 2}, {"exit 3", 6}};
	struct inis_proc_info m = sample(argv, 3);
	struct inis_proc_info back;
	uint8_t slot[INIS_SPOOL_RECORD];
	uint64_t serial;

	(void)state;
	inis_spool_record_put(slot, 99, &m);
	assert_int_equal(inis_spool_record_get(slot, &serial, &back), 1);
	assert_int_equal(serial, 99);
	assert_true(inis_str_eq(back.name, "web"));
	assert_int_equal(back.exit.exit_code, 3);
	assert_int_equal(back.exit.out_total, 10);
	assert_int_equal(back.argc, 3);
	assert_true(inis_str_eq(back.argv[2], "exit 3"));
	inis_proc_info_free(&back);
}

static void a_command_line_too_long_for_its_slot_is_cut(void **state)
{
	static char text[8192];
	struct inis_str argv[600];
	struct inis_proc_info m = sample(argv, 600);
	struct inis_proc_info back;
	uint8_t slot[INIS_SPOOL_RECORD];
	uint64_t serial;

	(void)state;
	memset(text, 'x', sizeof(text));
	/* One long argument, many short ones, many empty ones. */
	for (size_t length = 0; length <= sizeof(text); length = length ? length * 8 : 1) {
		for (unsigned i = 0; i < 600; i++)
			argv[i] = (struct inis_str){text, length};
		inis_spool_record_put(slot, 1, &m);
		assert_int_equal(inis_spool_record_get(slot, &serial, &back), 1);
		assert_true(back.argc >= 1 && back.argc < 600);
		assert_true(back.argv[0].len > 0 || length == 0);
		assert_true(back.argv[0].len == length || back.argc == 1);
		inis_proc_info_free(&back);
	}
}

static void what_cannot_be_true_is_no_record(void **state)
{
	struct inis_str argv[] = {{"sh", 2}};
	struct inis_proc_info wrong[9];
	struct inis_proc_info back;
	uint8_t slot[INIS_SPOOL_RECORD] = {0};
	uint64_t serial;

	(void)state;
	assert_int_equal(inis_spool_record_get(slot, &serial, &back), 0);
	for (unsigned i = 0; i < 9; i++)
		wrong[i] = sample(argv, 1);
	wrong[0].name = (struct inis_str){"a/b", 3};
	wrong[1].pid = 0;
	wrong[2].argc = 0;
	wrong[3].running = 2;
	wrong[4].exit.exit_code = 256;
	wrong[5].exit.signal = 65;
	wrong[6].started_wall_ms = 253402300800000ULL;
	wrong[7].exit.flags = INIS_EXIT_TIMED_OUT;
	wrong[8].exit.err_total = UINT64_MAX;
	for (unsigned i = 0; i < 9; i++) {
		inis_spool_record_put(slot, 1, &wrong[i]);
		if (inis_spool_record_get(slot, &serial, &back))
			fail_msg("record %u was believed", i);
	}
	wrong[0] = sample(argv, 1);
	inis_spool_record_put(slot, 1, &wrong[0]);
	memset(slot + 4, 0xff, 4);
	assert_int_equal(inis_spool_record_get(slot, &serial, &back), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_back),
		cmocka_unit_test(everything_else_is_no_name),
		cmocka_unit_test(a_record_comes_back),
		cmocka_unit_test(a_command_line_too_long_for_its_slot_is_cut),
		cmocka_unit_test(what_cannot_be_true_is_no_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
