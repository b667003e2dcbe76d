/* SPDX-License-Identifier: Apache-2.0
 *
 * sse_error.h - the terminal `error` event of a stream.
 */
#ifndef INIS_API_SSE_ERROR_H
#define INIS_API_SSE_ERROR_H

#include "http/http.h"

/* Sends `error` with the text of err as one line and ends the stream. */
void sse_error(struct http_request *rq, const struct inis_error *err);

#endif
