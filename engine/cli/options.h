/* SPDX-License-Identifier: Apache-2.0
 *
 * options.h - option values that several verbs take.
 */
#ifndef INIS_CLI_OPTIONS_H
#define INIS_CLI_OPTIONS_H

#include <jansson.h>

#include "base/error.h"

/* Adds "K=V" to the object *map, which is made when it is NULL. */
int cli_option_pair(json_t **map, const char *text, struct inis_error *err);

/* "1500ms", "30s", "5m", "1h" or plain seconds ("2.5"), as milliseconds (at least 1). */
int cli_option_duration(const char *text, json_int_t *ms, struct inis_error *err);

/* The same, or 0. */
int cli_option_duration_or_zero(const char *text, json_int_t *ms, struct inis_error *err);

/* Digits. */
int cli_option_count(const char *text, json_int_t *count, struct inis_error *err);

#endif
