/* SPDX-License-Identifier: Apache-2.0
 *
 * search_proto.c - requests and records of a search come back as they were; cut ones are incomplete, others refused.
 */
#include "wire/search_proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/agent_proto.h"

#define STR(text_) ((struct inis_str){(text_), strlen(text_)})

static void a_request_comes_back_and_a_cut_one_is_refused(void **state)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	const struct inis_search want = {.path = STR("a/b"),
					 .pattern = STR("x+"),
					 .flags = INIS_SEARCH_CASE,
					 .max_results = 7,
					 .budget_ms = 10000,
					 .max_depth = 3,
					 .context = 2,
					 .file_pattern = STR("*.c"),
					 .exclude_dirs = STR("one,two")};
	struct inis_search got;

	(void)state;
	inis_search_pack(&b, &want);
	assert_int_equal(inis_search_unpack(b.data, b.len, &got), 0);
	assert_true(inis_str_eq(got.path, "a/b") && inis_str_eq(got.pattern, "x+"));
	assert_true(inis_str_eq(got.file_pattern, "*.c") && inis_str_eq(got.exclude_dirs, "one,two"));
	assert_int_equal(got.flags, INIS_SEARCH_CASE);
	assert_int_equal(got.max_results * 10000 + got.max_depth * 100 + got.context, 70302);
	assert_int_equal(got.budget_ms, 10000);
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(inis_search_unpack(b.data, n, &got), -1);
}

static void refused(const struct inis_search *m)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_search got;

	inis_search_pack(&b, m);
	assert_int_equal(inis_search_unpack(b.data, b.len, &got), -1);
}

static void a_request_beyond_the_limits_is_refused(void **state)
{
	static char text[INIS_SEARCH_PATTERN_MAX + 1];

	(void)state;
	memset(text, 'x', sizeof(text));
	refused(&(struct inis_search){.max_results = 0});
	refused(&(struct inis_search){.max_results = 1, .context = INIS_SEARCH_CONTEXT_MAX + 1});
	refused(&(struct inis_search){.max_results = 1, .pattern = {text, sizeof(text)}});
	refused(&(struct inis_search){.max_results = 1, .exclude_dirs = {text, sizeof(text)}});
}

static void pack_one_of_each(struct inis_buf *b)
{
	struct inis_record r = {.kind = INIS_RECORD_FOUND,
				.found = {.type = INIS_FILE_DIRECTORY,
					  .mode = 0755,
					  .size = 1ULL << 40,
					  .mtime_ms = -5,
					  .path = STR("/workspace/d")}};

	inis_record_pack(b, &r);
	r = (struct inis_record){.kind = INIS_RECORD_MATCH,
				 .match = {.path = STR("/workspace/f"),
					   .line_number = 9,
					   .line = STR("line"),
					   .n_before = 1,
					   .before = {STR("before")},
					   .n_after = 2,
					   .after = {STR("after"), STR("")}}};
	inis_record_pack(b, &r);
	inis_record_pack(b, &(struct inis_record){.kind = INIS_RECORD_SEARCHED, .searched = 12});
	assert_false(inis_buf_failed(b));
}

static void records_come_back_one_after_the_other(void **state)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_record r;
	ssize_t n;

	(void)state;
	pack_one_of_each(&b);
	n = inis_record_unpack(b.data, b.len, &r);
	assert_true(n > 0 && r.kind == INIS_RECORD_FOUND && r.found.type == INIS_FILE_DIRECTORY);
	assert_true(r.found.size == 1ULL << 40 && r.found.mtime_ms == -5 && inis_str_eq(r.found.path, "/workspace/d"));
	inis_buf_consume(&b, (size_t)n);
	n = inis_record_unpack(b.data, b.len, &r);
	assert_true(n > 0 && r.kind == INIS_RECORD_MATCH && r.match.line_number == 9);
	assert_true(r.match.n_before == 1 && inis_str_eq(r.match.before[0], "before"));
	assert_true(r.match.n_after == 2 && inis_str_eq(r.match.after[0], "after") && r.match.after[1].len == 0);
	inis_buf_consume(&b, (size_t)n);
	assert_int_equal(inis_record_unpack(b.data, b.len, &r), b.len);
	assert_int_equal(r.searched, 12);
}

static void a_cut_record_is_incomplete_and_a_wrong_one_is_refused(void **state)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_record r;
	ssize_t whole;

	(void)state;
	pack_one_of_each(&b);
	whole = inis_record_unpack(b.data, b.len, &r);
	for (ssize_t n = 0; n < whole; n++)
		assert_int_equal(inis_record_unpack(b.data, (size_t)n, &r), 0);
	b.data[0] = 99;
	assert_int_equal(inis_record_unpack(b.data, b.len, &r), -1);
	b.data[0] = INIS_RECORD_SEARCHED;
	assert_int_equal(inis_record_unpack(b.data, b.len, &r), -1);
	memset(b.data + 1, 0xff, 4);
	assert_int_equal(inis_record_unpack(b.data, b.len, &r), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_comes_back_and_a_cut_one_is_refused),
		cmocka_unit_test(a_request_beyond_the_limits_is_refused),
		cmocka_unit_test(records_come_back_one_after_the_other),
		cmocka_unit_test(a_cut_record_is_incomplete_and_a_wrong_one_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
