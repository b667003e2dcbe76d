/* SPDX-License-Identifier: Apache-2.0
 *
 * sse_error.c - the terminal `error` event of a stream.
 */
#include "api/sse_error.h"

#include <stdio.h>

#include "http/utf8.h"

void sse_error(struct http_request *rq, const struct inis_error *err)
{
	char line[sizeof(err->message) + 64];
	int n = snprintf(line, sizeof(line), "%s: %s", inis_code_name(err->code), err->message);
	size_t len = n < 0 ? 0 : (size_t)n, at;

	if (len >= sizeof(line))
		len = sizeof(line) - 1;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)line[i] < 0x20)
			line[i] = ' ';
	}
	while ((at = http_utf8_prefix(line, len)) < len)
		line[at] = '?';
	http_sse_send(rq, "error", NULL, line, len);
	http_sse_end(rq);
}
