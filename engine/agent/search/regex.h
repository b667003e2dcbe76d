/* SPDX-License-Identifier: Apache-2.0
 *
 * regex.h - regular expressions in RE2's syntax, with bounded work for a line.
 */
#ifndef INIS_AGENT_SEARCH_REGEX_H
#define INIS_AGENT_SEARCH_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct regex;

/* Fails with bad_request of field `pattern`: "invalid pattern" or "unsupported pattern". */
struct regex *regex_compile(const char *pattern, bool caseless, struct inis_error *err);
void regex_free(struct regex *re);

/* Whether something in the line (n bytes, no line end) matches: 1, 0; -1 when that is too much work to find out. */
int regex_match(const struct regex *re, const char *line, size_t n);

/* NULL, or what in the pattern is not RE2's syntax. Pure. */
const char *regex_unsupported(const char *pattern);

#endif
