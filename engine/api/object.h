/* SPDX-License-Identifier: Apache-2.0
 *
 * object.h - building the JSON objects of answers.
 *
 * Members are put one after the other; a failure (no memory) sticks, and
 * object_done() then gives NULL, which an answer turns into 503.
 */
#ifndef INIS_API_OBJECT_H
#define INIS_API_OBJECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct object {
	json_t *json;
	bool failed;
};

struct object object_new(void);
json_t *object_done(struct object *o); /* the reference, or NULL */

void object_text(struct object *o, const char *name, const char *value); /* NULL: left out */
void object_int(struct object *o, const char *name, int64_t value);
void object_bool(struct object *o, const char *name, bool value);
void object_flag(struct object *o, const char *name, bool value); /* only when true */
void object_time(struct object *o, const char *name, inis_ms wall_ms); /* 0: left out */
void object_take(struct object *o, const char *name, json_t *value); /* takes the reference; NULL is a failure */
void object_share(struct object *o, const char *name, json_t *value); /* keeps it; NULL: left out */

#endif
