/* SPDX-License-Identifier: Apache-2.0
 *
 * admit.h - which requests pass.
 */
#ifndef INIS_HTTP_ADMIT_H
#define INIS_HTTP_ADMIT_H

#include "http/request.h"

/*
 * Finds the route of a request whose head is parsed and checks key, method and
 * announced length. Answers what does not pass; calls the handler of a streamed body.
 */
void http_admit(struct http_request *rq);

#endif
