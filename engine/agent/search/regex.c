/* SPDX-License-Identifier: Apache-2.0
 *
 * regex.c - regular expressions in RE2's syntax, with bounded work for a line.
 *
 * A pattern that makes the matcher try too many alternatives on a line is given up for that line. (The library's
 * other matcher, which follows all alternatives at once, is no way out: nested repetitions take it as long.)
 *
 * A line that is not UTF-8 is matched byte by byte.
 */
#include "agent/search/regex.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define STEPS_MAX   200000 /* from one place in a line */
#define DEPTH_MAX   20000
#define HEAP_MAX_KB 8192
#define NEST_MAX    100

struct regex {
	pcre2_code *text;
	pcre2_code *bytes; /* NULL: it can only match text */
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

static pcre2_match_context *make_limits(void)
{
	pcre2_match_context *mc = pcre2_match_context_create(NULL);

	if (mc) {
		pcre2_set_match_limit(mc, STEPS_MAX);
		pcre2_set_depth_limit(mc, DEPTH_MAX);
		pcre2_set_heap_limit(mc, HEAP_MAX_KB);
	}
	return mc;
}

static pcre2_code *compile(const char *pattern, uint32_t options, int *error)
{
	pcre2_compile_context *cc = pcre2_compile_context_create(NULL);
	PCRE2_SIZE at;
	pcre2_code *code = NULL;

	*error = PCRE2_ERROR_NOMEMORY;
	if (!cc)
		return NULL;
	pcre2_set_parens_nest_limit(cc, NEST_MAX);
	pcre2_set_newline(cc, PCRE2_NEWLINE_LF);
	code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
			     options | PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C, error,
			     &at, cc);
	pcre2_compile_context_free(cc);
	return code;
}

static struct regex *fail(struct regex *re, struct inis_error *err)
{
	regex_free(re);
	inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	return NULL;
}

struct regex *regex_compile(const char *pattern, bool caseless, struct inis_error *err)
{
	const uint32_t options = caseless ? PCRE2_CASELESS : 0;
	const char *foreign = regex_unsupported(pattern);
	struct regex *re;
	char text[160];
	int error, ignored;

	if (foreign) {
		inis_fail_field(err, "pattern", "unsupported pattern: %s", foreign);
		return NULL;
	}
	re = calloc(1, sizeof(*re));
	if (!re)
		return fail(re, err);
	re->text = compile(pattern, options | PCRE2_UTF, &error);
	if (!re->text) {
		pcre2_get_error_message(error, (PCRE2_UCHAR *)text, sizeof(text));
		inis_fail_field(err, "pattern", "invalid pattern: %s", text);
		regex_free(re);
		return NULL;
	}
	re->bytes = compile(pattern, options, &ignored);
	re->data = pcre2_match_data_create(1, NULL);
	re->limits = make_limits();
	return re->data && re->limits ? re : fail(re, err);
}

void regex_free(struct regex *re)
{
	if (!re)
		return;
	pcre2_code_free(re->text);
	pcre2_code_free(re->bytes);
	pcre2_match_data_free(re->data);
	pcre2_match_context_free(re->limits);
	free(re);
}

static int run(const struct regex *re, const pcre2_code *code, const char *line, size_t n)
{
	return pcre2_match(code, (PCRE2_SPTR)line, n, 0, 0, re->data, re->limits);
}

int regex_match(const struct regex *re, const char *line, size_t n)
{
	int rc = run(re, re->text, line, n);

	if (rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21)
		rc = re->bytes ? run(re, re->bytes, line, n) : PCRE2_ERROR_NOMATCH;
	if (rc >= 0)
		return 1;
	return rc == PCRE2_ERROR_NOMATCH ? 0 : -1;
}
