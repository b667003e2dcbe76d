/* SPDX-License-Identifier: Apache-2.0
 *
 * parse.h - from bytes to requests, without sockets.
 *
 * A head is looked for with http_head_scan() and parsed in one piece once it is
 * whole, so its strings need no joining. The body then goes through
 * http_body_parse(), however it is cut.
 */
#ifndef INIS_HTTP_PARSE_H
#define INIS_HTTP_PARSE_H

#include <llhttp.h>
#include <sys/types.h>

#include "http/request.h"

#define HTTP_LINE_MAX (8 * 1024 + 32) /* a URL of 8 KiB, the method and the version */
#define HTTP_HEAD_MAX (HTTP_LINE_MAX + 64 * 1024)

struct http_head_scan {
	size_t line; /* where the current line begins */
	size_t looked; /* bytes known to end no line */
	size_t first_line; /* length of the request line with its CRLF; 0: not whole yet */
};

/* Length of the head when it is whole, 0 when more is needed, -1: not HTTP. */
ssize_t http_head_scan(struct http_head_scan *scan, const uint8_t *data, size_t n, struct inis_error *err);

/* Parses a whole head. NULL: bad_request, or unavailable without memory. */
struct http_request *http_head_parse(llhttp_t *parser, const uint8_t *head, size_t n, size_t first_line,
				     struct inis_error *err);

/*
 * Parses body bytes of rq; returns how many belonged to it, -1 when the body is malformed or
 * refused. Calls rq's body events, which may answer rq: hold a reference.
 */
ssize_t http_body_parse(llhttp_t *parser, struct http_request *rq, const uint8_t *data, size_t n,
			struct inis_error *err);

#endif
