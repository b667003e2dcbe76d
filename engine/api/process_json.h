/* SPDX-License-Identifier: Apache-2.0
 *
 * process_json.h - the process object of the API, and what process handlers share.
 */
#ifndef INIS_API_PROCESS_JSON_H
#define INIS_API_PROCESS_JSON_H

#include <jansson.h>

#include "api/op.h"

/* New reference; NULL = no memory. with_killed: `killed` is put also when false. */
json_t *process_json(const struct inis_proc_info *p, bool with_killed);

/* Ends op with err, in the words of a process that does not exist where that is it. */
void process_fail(struct op *op, const struct inis_error *err);

/* Ends op: there is no such process. */
void process_missing(struct op *op);

/* Ends op with not_found when path parameter "name" can be no process. */
bool process_name_ok(struct op *op);

#endif
