/* SPDX-License-Identifier: Apache-2.0
 *
 * id.h - ids as validated types.
 *
 * Nothing becomes part of a path, a kernel object's name or a statement that is
 * not one of these. A value of such a type came from inis_*_id_parse() or
 * inis_*_id_new() and holds only [a-z0-9] of exactly the given length.
 */
#ifndef INIS_BASE_ID_H
#define INIS_BASE_ID_H

#include <stdbool.h>

#include "base/error.h"

#define INIS_SESSION_ID_LEN 21
#define INIS_UNIT_ID_LEN    16
#define INIS_REQUEST_ID_LEN 20 /* "req_" + 16 */
#define INIS_PROC_NAME_MAX  64

struct session_id {
	char s[INIS_SESSION_ID_LEN + 1];
};

/* A unit: namespaces, cgroup, netns, mounts, agent. Names in kernel and on disk carry it. */
struct unit_id {
	char s[INIS_UNIT_ID_LEN + 1];
};

struct request_id {
	char s[INIS_REQUEST_ID_LEN + 1];
};

/* Fills buf with n characters [a-z0-9] from the kernel's random source, and a NUL at buf[n]. */
int inis_random_text(char *buf, unsigned n, struct inis_error *err);

int session_id_new(struct session_id *id, struct inis_error *err);
int unit_id_new(struct unit_id *id, struct inis_error *err);
/* Never fails: falls back to a counter when there is no randomness. */
void request_id_new(struct request_id *id);

/* false when text is not exactly such an id. "exec" and "batch" are too short to clash. */
bool session_id_parse(const char *text, struct session_id *id);
bool unit_id_parse(const char *text, struct unit_id *id);

/* Process and exec names: [A-Za-z0-9._-]{1,64}, not "." or "..". */
bool proc_name_valid(const char *text);

#endif
