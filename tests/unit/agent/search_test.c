/* SPDX-License-Identifier: Apache-2.0
 *
 * search_test.c - globs and regular expressions match what their documents say, at a bounded price.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/search/glob.h"
#include "agent/search/regex.h"

static void names_match_as_shells_match_them(void **state)
{
	static const struct {
		const char *pattern;
		const char *name;
		bool matches;
	} cases[] = {
		{"", "", true},           {"a", "a", true},
		{"a", "b", false},        {"*", "", true},
		{"*", ".hidden", true},   {"*.ts", "x.ts", true},
		{"*.ts", "x.tsx", false}, {"a*b*c", "aXbXbc", true},
		{"a*b*c", "acb", false},  {"?", "é", true},
		{"??", "é", false},       {"?", "\xff", true},
		{"[a-c]x", "bx", true},   {"[a-c]x", "dx", false},
		{"[!a-c]x", "dx", true},  {"[^a-c]", "a", false},
		{"[]]", "]", true},       {"[]-a]", "_", true},
		{"[a-]", "-", true},      {"[é-ü]", "ö", true},
		{"\\*", "*", true},       {"\\*", "x", false},
		{"[\\]]", "]", true},     {"**", "anything", true},
		{"*a", "aaaaab", false},  {"*[0-9]", "file7", true},
		{"x?", "x", false},       {"\xff*", "\xff\xfe", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (glob_match(cases[i].pattern, cases[i].name) != cases[i].matches)
			fail_msg("%s against %s", cases[i].pattern, cases[i].name);
	}
}

static void malformed_globs_are_told_from_good_ones(void **state)
{
	static const char *const bad[] = {"[", "a[b", "[]", "[!]", "[a-", "x\\"};
	static const char *const good[] = {"", "]", "[]]", "[!]]", "a-b", "\\[", "[[]", "{a,b}"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_non_null(glob_check(bad[i]));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_null(glob_check(good[i]));
}

static bool path_matches(const char *pattern, const char *path)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct glob_path g;
	char text[256];
	char *next = text;
	uint64_t at;
	bool accepts;

	snprintf(text, sizeof(text), "%s", path);
	assert_int_equal(glob_path_init(&g, pattern, &err), 0);
	at = glob_path_begin(&g);
	while (next)
		at = glob_path_step(&g, glob_path_below(&g, at), strsep(&next, "/"));
	accepts = glob_path_accepts(&g, at);
	glob_path_free(&g);
	return accepts;
}

static void paths_match_level_by_level(void **state)
{
	(void)state;
	assert_true(path_matches("a/*.c", "a/x.c"));
	assert_false(path_matches("a/*.c", "a/b/x.c"));
	assert_false(path_matches("*", "a/b"));
	assert_true(path_matches("a/**", "a/b"));
	assert_true(path_matches("a/**", "a/b/c/d"));
	assert_false(path_matches("a/**", "a"));
	assert_true(path_matches("**/x", "x"));
	assert_true(path_matches("**/x", "a/b/x"));
	assert_true(path_matches("a/**/b/**/c", "a/b/c"));
	assert_true(path_matches("a/**/b/**/c", "a/1/b/2/3/c"));
	assert_false(path_matches("a/**/b/**/c", "a/1/c"));
	assert_true(path_matches("./a//b/", "a/b"));
	assert_true(path_matches("**/**/x", "x"));
}

static void a_path_pattern_that_leads_out_or_is_endless_is_refused(void **state)
{
	char deep[256] = "";
	struct inis_error err = INIS_ERROR_INIT;
	struct glob_path g;

	(void)state;
	assert_int_equal(glob_path_init(&g, "a/../b", &err), -1);
	assert_string_equal(err.field, "pattern");
	assert_int_equal(glob_path_init(&g, "a/[/b", &err), -1);
	for (int i = 0; i < GLOB_COMPONENTS_MAX; i++)
		strcat(deep, "x/");
	assert_int_equal(glob_path_init(&g, deep, &err), 0);
	glob_path_free(&g);
	strcat(deep, "x");
	assert_int_equal(glob_path_init(&g, deep, &err), -1);
}

/* A star that was tried again for every other star would not end. */
static void many_stars_are_no_work(void **state)
{
	char pattern[1024] = "", name[4096];

	(void)state;
	for (int i = 0; i < 200; i++)
		strcat(pattern, "*a");
	strcat(pattern, "b");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(glob_match(pattern, name));
}

static void expect_match(const char *pattern, bool caseless, const char *line, int expected)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct regex *re = regex_compile(pattern, caseless, &err);

	if (!re)
		fail_msg("%s: %s", pattern, err.message);
	if (regex_match(re, line, strlen(line)) != expected)
		fail_msg("%s against %s", pattern, line);
	regex_free(re);
}

static void expressions_match(void **state)
{
	(void)state;
	expect_match("hello", true, "Hello", 1);
	expect_match("hello", false, "Hello", 0);
	expect_match("^a.c$", false, "aéc", 1);
	expect_match("ÄÖ", true, "äö", 1);
	expect_match("\\bfoo\\b", false, "a foo b", 1);
	expect_match("\\d{2,4}(?:x|y)", false, "a12y", 1);
	expect_match("(?P<n>a)(?i:B)", false, "ab", 1);
	expect_match("\\p{Greek}", false, "αβγ", 1);
	expect_match("[[:digit:]]\\Q.*\\E", false, "7.*", 1);
	expect_match("a+?b|^$", false, "", 1);
	expect_match("\\x{e9}", false, "caf\xc3\xa9", 1);
	expect_match("caf.", false, "caf\xe9", 1);
	expect_match("x", false, "\xff\xfex", 1);
}

static void expect_refusal(const char *pattern, const char *why)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct regex *re = regex_compile(pattern, true, &err);

	if (re)
		fail_msg("%s was taken", pattern);
	assert_int_equal(err.code, INIS_BAD_REQUEST);
	assert_string_equal(err.field, "pattern");
	if (!strstr(err.message, why))
		fail_msg("%s: %s", pattern, err.message);
}

static void what_is_not_of_RE2_is_unsupported(void **state)
{
	static const char *const patterns[] = {
		"(a)\\1",  "(?<n>a)\\k<n>", "\\g1",    "(?=a)",     "(?!a)",  "(?<=a)b", "(?<!a)b", "(?>a)",
		"(?|a|b)", "(?R)",          "(?1)",    "(?&n)",     "a++",    "a*+",     "a?+",     "a{2}+",
		"(*FAIL)", "\\Ka",          "\\R",     "\\X",       "\\G",    "\\C",     "(?#c)",   "(?x)a b",
		"a{1001}", "(?(1)a|b)",     "[a\\K]+", "(?P=name)", "(?P>n)", "\\Z",     "(?^i)a",  "(?C1)a",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		expect_refusal(patterns[i], "unsupported pattern");
}

static void what_is_malformed_is_invalid(void **state)
{
	static const char *const patterns[] = {"(",      ")",  "[a",    "*a",        "a**",
					       "a{2,1}", "\\", "[z-a]", "\\p{Nope}", "\xff"};

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		expect_refusal(patterns[i], "invalid pattern");
}

/* Trying all ways to match these would take longer than the universe lasts. */
static void patterns_that_explode_are_given_up(void **state)
{
	char line[2048];

	(void)state;
	memset(line, 'a', sizeof(line) - 2);
	line[sizeof(line) - 2] = '!';
	line[sizeof(line) - 1] = '\0';
	expect_match("(a+)+$", false, line, -1);
	expect_match("(a|aa)+$", false, line, -1);
	expect_match("(.*a){12}$", false, line, -1);
	expect_match("(a+)+!", false, line, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_match_as_shells_match_them),
		cmocka_unit_test(malformed_globs_are_told_from_good_ones),
		cmocka_unit_test(paths_match_level_by_level),
		cmocka_unit_test(a_path_pattern_that_leads_out_or_is_endless_is_refused),
		cmocka_unit_test(many_stars_are_no_work),
		cmocka_unit_test(expressions_match),
		cmocka_unit_test(what_is_not_of_RE2_is_unsupported),
		cmocka_unit_test(what_is_malformed_is_invalid),
		cmocka_unit_test(patterns_that_explode_are_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
