/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.c - finds the end of a request head and holds it to the letter of the standard.
 *
 * Every line ends with CRLF and neither CR, LF nor NUL appears elsewhere; no line
 * but the first of a message continues another one. Parsers that disagree about
 * these are what smuggled requests live on.
 */
#include <string.h>

#include "http/parse.h"

static int check_line(const uint8_t *line, size_t n, struct inis_error *err)
{
	const uint8_t *cr = memchr(line, '\r', n);

	if (n < 2 || cr != line + n - 2)
		return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: a line does not end with CRLF");
	if (line[0] == ' ' || line[0] == '\t')
		return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: folded header line");
	return 0;
}

static int check_limits(const struct http_head_scan *scan, size_t n, struct inis_error *err)
{
	if ((scan->first_line ? scan->first_line : n) > HTTP_LINE_MAX)
		return inis_fail(err, INIS_BAD_REQUEST, "the request line is too long");
	if (n > HTTP_HEAD_MAX)
		return inis_fail(err, INIS_BAD_REQUEST, "the request's headers are too large");
	return 0;
}

ssize_t http_head_scan(struct http_head_scan *scan, const uint8_t *data, size_t n, struct inis_error *err)
{
	while (scan->looked < n) {
		const uint8_t *from = data + scan->looked;
		const uint8_t *lf = memchr(from, '\n', n - scan->looked);
		size_t end = lf ? (size_t)(lf - data) + 1 : n;

		if (memchr(from, '\0', end - scan->looked))
			return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: NUL in the request head");
		scan->looked = end;
		if (!lf)
			break;
		if (check_line(data + scan->line, end - scan->line, err) < 0)
			return -1;
		if (!scan->first_line)
			scan->first_line = end;
		if (check_limits(scan, end, err) < 0)
			return -1;
		if (end - scan->line == 2)
			return (ssize_t)end;
		scan->line = end;
	}
	return check_limits(scan, scan->looked, err);
}
