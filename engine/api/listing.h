/* SPDX-License-Identifier: Apache-2.0
 *
 * listing.h - what a session's agent lists, as one JSON array.
 */
#ifndef INIS_API_LISTING_H
#define INIS_API_LISTING_H

#include "api/op.h"

struct listing {
	struct op op; /* first */
	const char *member; /* of the answer: the array's name */
	json_t *(*item)(const struct agent_result *r); /* a new reference; NULL: no memory */
	/* Asks the agent; NULL: err says why not. */
	struct agent_call *(*ask)(struct agent *a, const struct agent_handler *handler, void *ctx,
				  struct inis_error *err);
	json_t *list; /* its own, from here */
	size_t cost; /* about the memory that it takes */
	bool failed;
};

/* An op for op_begin(); NULL: the request has been answered. */
struct listing *listing_new(struct http_request *rq);

#endif
