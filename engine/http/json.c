/* SPDX-License-Identifier: Apache-2.0
 *
 * json.c - strict JSON bodies.
 *
 * The parser checks syntax, UTF-8 and duplicate keys. What it would let through,
 * deep nesting and bodies that consist of millions of tiny values, is counted
 * here before it builds anything.
 */
#include "http/json.h"

#include <stdbool.h>
#include <string.h>

/* The first byte after the string that opens at `at`; end when it is not closed. */
static const char *skip_string(const char *at, const char *end)
{
	const char *from = at + 1;

	for (;;) {
		const char *quote = memchr(from, '"', (size_t)(end - from));
		const char *back = quote;

		if (!quote)
			return end;
		while (back[-1] == '\\' && back - 1 > at)
			back--;
		if ((quote - back) % 2 == 0)
			return quote + 1;
		from = quote + 1;
	}
}

static int check_shape(const char *text, size_t n, struct inis_error *err)
{
	const char *at = text, *end = text + n;
	size_t depth = 0, values = 0;

	while (at < end) {
		switch (*at) {
		case '"':
			at = skip_string(at, end);
			continue;
		case '[':
		case '{':
			if (++depth > HTTP_JSON_DEPTH_MAX)
				return inis_fail(err, INIS_BAD_REQUEST, "JSON is nested deeper than %d",
						 HTTP_JSON_DEPTH_MAX);
			values++;
			break;
		case ']':
		case '}':
			depth -= depth > 0;
			break;
		case ',':
			values++;
			break;
		default:
			break;
		}
		if (values > HTTP_JSON_VALUES_MAX)
			return inis_fail(err, INIS_BAD_REQUEST, "JSON has more than %d values", HTTP_JSON_VALUES_MAX);
		at++;
	}
	return 0;
}

/* The parser quotes what it stumbled over ("… near 'x'"); that may be a secret and is left out. */
static void describe(const json_error_t *e, struct inis_error *err)
{
	const char *near = strstr(e->text, " near ");
	int len = near ? (int)(near - e->text) : (int)strlen(e->text);

	if (json_error_code(e) == json_error_out_of_memory)
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	else if (json_error_code(e) == json_error_duplicate_key)
		inis_fail(err, INIS_BAD_REQUEST, "malformed JSON: duplicate object key in line %d", e->line);
	else
		inis_fail(err, INIS_BAD_REQUEST, "malformed JSON: %.*s in line %d, column %d", len, e->text, e->line,
			  e->column);
}

json_t *http_json_object(const void *data, size_t n, struct inis_error *err)
{
	json_error_t e;
	json_t *value;

	if (n == 0) {
		value = json_object();
		if (!value)
			inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return value;
	}
	if (check_shape(data, n, err) < 0)
		return NULL;
	value = json_loadb(data, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
	if (!value) {
		describe(&e, err);
		return NULL;
	}
	if (!json_is_object(value)) {
		json_decref(value);
		inis_fail(err, INIS_BAD_REQUEST, "the body must be a JSON object");
		return NULL;
	}
	return value;
}
