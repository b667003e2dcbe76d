/* SPDX-License-Identifier: Apache-2.0
 *
 * respond.h - writing answers, as the files of this layer share it.
 */
#ifndef INIS_HTTP_RESPOND_H
#define INIS_HTTP_RESPOND_H

#include "http/request.h"

#define HTTP_LENGTH_NONE    (-2) /* no body at all (204) */
#define HTTP_LENGTH_UNKNOWN (-1)

/* Writes the head of rq's answer and n bytes of body with it. */
void http_write_answer(struct http_request *rq, int status, const char *content_type, int64_t length, const void *data,
		       size_t n);
/* An error answer to something that did not become a request; the connection ends after it. */
void http_refuse(struct http_conn *c, const struct inis_error *err);
/* Ends rq: the answer is complete, or cut. */
void http_finish(struct http_request *rq, bool cut);
/* Heartbeat of an event stream. */
void http_stream_tick(struct http_request *rq, uint64_t now);

#endif
