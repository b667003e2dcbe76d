/* SPDX-License-Identifier: Apache-2.0
 *
 * planned.c - routes of the protocol that are not built yet: 501, and never 404, which clients take for a lost session.
 */
#include "api/handlers.h"

void planned(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_fail(&err, INIS_NOT_IMPLEMENTED, "%s %.200s is not built yet", http_method(rq), http_path(rq));
	http_respond_error(rq, &err);
}
