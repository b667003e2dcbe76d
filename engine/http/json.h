/* SPDX-License-Identifier: Apache-2.0
 *
 * json.h - reading a request body as a JSON object, strictly, pure.
 */
#ifndef INIS_HTTP_JSON_H
#define INIS_HTTP_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

#define HTTP_JSON_DEPTH_MAX  32
#define HTTP_JSON_VALUES_MAX 200000 /* small values take some 100 bytes of memory each */

/* No bytes at all are an empty object. NULL: bad_request. */
json_t *http_json_object(const void *data, size_t n, struct inis_error *err);

#endif
