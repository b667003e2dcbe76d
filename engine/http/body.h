/* SPDX-License-Identifier: Apache-2.0
 *
 * body.h - what happens to the bytes of a request body.
 */
#ifndef INIS_HTTP_BODY_H
#define INIS_HTTP_BODY_H

#include "http/request.h"

/* Gathers or hands on n parsed bytes. -1: refused, rq->body_error says why. */
int http_body_take(struct http_request *rq, const uint8_t *data, size_t n);
/* Hands on what was held while paused. */
void http_body_release(struct http_request *rq);
/* Whether the announced length alone is too much. */
int http_body_check_length(const struct http_request *rq, struct inis_error *err);

static inline bool http_body_is_streamed(const struct http_request *rq)
{
	return rq->route->flags & HTTP_STREAM_BODY;
}

#endif
