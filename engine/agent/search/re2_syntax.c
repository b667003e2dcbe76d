/* SPDX-License-Identifier: Apache-2.0
 *
 * re2_syntax.c - what Perl's regular expressions have and RE2's do not: refused before a pattern is compiled.
 *
 * Those are what can make matching slow (references, look-around), and what would mean something else elsewhere.
 * Malformed patterns may pass: the compiler refuses them.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/search/regex.h"

#define REPEAT_MAX 1000

static const char *escape(char c)
{
	if (c >= '1' && c <= '9')
		return "back-references";
	if (c == 'k' || c == 'g')
		return "back-references";
	/* Letters and digits that RE2 knows; punctuation stands for itself. */
	if (((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) && !strchr("afnrtxdDsSwWbBAzQEpP", c))
		return "an escape that is not of RE2's syntax";
	return NULL;
}

/* p is behind "(?". */
static const char *group(const char *p)
{
	size_t n;

	if (p[0] == '=' || p[0] == '!' || (p[0] == '<' && (p[1] == '=' || p[1] == '!')))
		return "look-around";
	if (p[0] == 'P' && (p[1] == '=' || p[1] == '>'))
		return "back-references";
	if (p[0] == '<' || (p[0] == 'P' && p[1] == '<'))
		return NULL;
	n = strspn(p, "imsU-");
	if (p[n] == ':' || (p[n] == ')' && n > 0))
		return NULL;
	return "a group that is not of RE2's syntax";
}

/* Behind a set that begins at p[0] == '['; *wrong: an escape in it is refused. */
static const char *skip_set(const char *p, const char **wrong)
{
	p++;
	if (*p == '^')
		p++;
	if (*p == ']')
		p++;
	while (*p && *p != ']') {
		if (*p == '\\' && p[1]) {
			const char *w = escape(p[1]);

			*wrong = w ? w : *wrong;
			p += 2;
		} else if (p[0] == '[' && p[1] == ':' && strstr(p + 2, ":]")) {
			p = strstr(p + 2, ":]") + 2;
		} else {
			p++;
		}
	}
	return *p ? p + 1 : p;
}

/* Length of a repetition at p, 0: there is none. */
static size_t repetition(const char *p, const char **wrong)
{
	const char *end = p + 1;
	unsigned long low, high;
	char *after;

	if (*p == '*' || *p == '+' || *p == '?')
		return 1;
	if (*p != '{' || end[strspn(end, "0123456789,")] != '}' || *end < '0' || *end > '9')
		return 0;
	low = strtoul(end, &after, 10);
	high = *after == ',' ? strtoul(after + 1, &after, 10) : low;
	if (low > REPEAT_MAX || high > REPEAT_MAX)
		*wrong = "a repetition of more than 1000";
	return (size_t)(after - p) + 1;
}

/* Repetitions at p, with what may follow them; behind them. */
static const char *skip_repetition(const char *p, const char **wrong)
{
	size_t n = repetition(p, wrong);

	if (n == 0)
		return p;
	p += n;
	if (*p == '+')
		*wrong = "possessive repetition";
	if (*p == '?')
		p++;
	return p;
}

const char *regex_unsupported(const char *pattern)
{
	const char *wrong = NULL, *p = pattern;

	while (*p && !wrong) {
		if (p[0] == '\\' && p[1] == 'Q') {
			const char *end = strstr(p, "\\E");

			p = end ? end + 2 : p + strlen(p);
		} else if (p[0] == '\\' && p[1]) {
			wrong = escape(p[1]);
			p += 2;
		} else if (p[0] == '[') {
			p = skip_set(p, &wrong);
		} else if (p[0] == '(' && p[1] == '*') {
			wrong = "a control verb";
		} else if (p[0] == '(' && p[1] == '?') {
			wrong = group(p + 2);
			p += 2;
			continue;
		} else {
			p++;
			if (p[-1] == '(' || p[-1] == '|')
				continue;
		}
		p = skip_repetition(p, &wrong);
	}
	return wrong;
}
