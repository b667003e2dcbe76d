/* SPDX-License-Identifier: Apache-2.0
 *
 * create_fields.h - the checked content of a create request.
 */
#ifndef INIS_API_CREATE_FIELDS_H
#define INIS_API_CREATE_FIELDS_H

#include <jansson.h>

#include "session/spec.h"

/* On failure spec is freed. What is not built is 501, what cannot exist here 404. */
int create_fields(const json_t *body, struct session_spec *spec, struct inis_error *err);

#endif
