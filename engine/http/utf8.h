/* SPDX-License-Identifier: Apache-2.0
 *
 * utf8.h - strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef INIS_HTTP_UTF8_H
#define INIS_HTTP_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the longest prefix that is valid UTF-8. */
size_t http_utf8_prefix(const char *text, size_t n);

static inline bool http_utf8_valid(const char *text, size_t n)
{
	return http_utf8_prefix(text, n) == n;
}

#endif
