/* SPDX-License-Identifier: Apache-2.0
 *
 * traffic.h - what the requests were: for each route how many, how they ended and how long they took.
 *
 * Routes, never paths: what clients make up adds no row.
 */
#ifndef INIS_API_TRAFFIC_H
#define INIS_API_TRAFFIC_H

#include "api/exposition.h"
#include "http/http.h"

struct traffic;

/* NULL: no memory. */
struct traffic *traffic_new(void);
void traffic_free(struct traffic *t);
void traffic_count(struct traffic *t, const struct http_request *rq, int status, int64_t duration_us);
/* Its families; routes that nobody has asked for are left out. */
void traffic_write(const struct traffic *t, struct exposition *x);

#endif
