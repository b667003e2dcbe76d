/* SPDX-License-Identifier: Apache-2.0
 *
 * session_json.h - the session object of the API.
 */
#ifndef INIS_API_SESSION_JSON_H
#define INIS_API_SESSION_JSON_H

#include <jansson.h>

#include "session/registry.h"

/* New reference; NULL = no memory. */
json_t *session_json(const struct session *s);
/* The policy in force: {"mode","allow"}. */
json_t *egress_json(const struct session *s);

#endif
