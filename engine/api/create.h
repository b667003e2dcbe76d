/* SPDX-License-Identifier: Apache-2.0
 *
 * create.h - making a session for a request.
 */
#ifndef INIS_API_CREATE_H
#define INIS_API_CREATE_H

#include "api/api.h"

/* registry_create() for the key of rq, of what the template, if one is named, allows. */
struct session *create_start(struct http_request *rq, struct session_create *c, struct inis_error *err);
/* Why one that is over never came up, as an answer to who asked for it. */
void create_failure(const struct session *s, struct inis_error *err);

#endif
