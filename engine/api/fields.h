/* SPDX-License-Identifier: Apache-2.0
 *
 * fields.h - typed, checked reading of request members and query parameters.
 *
 * Each returns 0 and leaves *out alone when the member is absent or null, 0 with
 * *out set when it is good, -1 with an error that names it otherwise. Texts are
 * borrowed from the object. Lengths are bytes.
 */
#ifndef INIS_API_FIELDS_H
#define INIS_API_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "http/http.h"

#define FIELD_INT_MAX  9007199254740991LL /* what every client can write exactly */
#define FIELD_PATH_MAX 4095
#define ENV_TOTAL_MAX  65536
#define ENV_NAMES_MAX  1024
#define LABELS_MAX     64

int field_required(const json_t *o, const char *name, struct inis_error *err);
/* No NUL inside. */
int field_text(const json_t *o, const char *name, size_t min, size_t max, const char **out, struct inis_error *err);
int field_path(const json_t *o, const char *name, const char **out, struct inis_error *err); /* required */
int field_int(const json_t *o, const char *name, int64_t min, int64_t max, int64_t *out, struct inis_error *err);
int field_bool(const json_t *o, const char *name, bool *out, struct inis_error *err);
/* *out becomes the index in the NULL-terminated choices. */
int field_choice(const json_t *o, const char *name, const char *const *choices, int *out, struct inis_error *err);
/* Borrowed object of strings; NULL stays for an absent or empty one. */
int field_labels(const json_t *o, const char *name, json_t **out, struct inis_error *err);
int field_env(const json_t *o, const char *name, json_t **out, struct inis_error *err);
/* Borrowed array with at most max items. */
int field_array(const json_t *o, const char *name, size_t max, json_t **out, struct inis_error *err);
/* Content: text as it is, NUL and all, or base64. More than max bytes: payload_too_large. */
int field_content(const json_t *o, const char *name, const char *encoding_name, size_t max, struct inis_buf *out,
		  struct inis_error *err);

int query_int(const struct http_request *rq, const char *name, int64_t min, int64_t max, int64_t *out,
	      struct inis_error *err);
int query_bool(const struct http_request *rq, const char *name, bool *out, struct inis_error *err);
int query_choice(const struct http_request *rq, const char *name, const char *const *choices, int *out,
		 struct inis_error *err);
int query_path(const struct http_request *rq, const char **out, struct inis_error *err); /* "path", required */

bool text_printable(const char *text); /* no control characters */
bool text_is_name(const char *text); /* ^[a-z0-9][a-z0-9._-]{0,62}$ */

#endif
