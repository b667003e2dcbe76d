/* SPDX-License-Identifier: Apache-2.0
 *
 * ended.h - named processes of sessions that have ended, from what is kept of them.
 *
 * What is kept was written by the session's agent, which is not trusted: a record that makes no sense is not there.
 */
#ifndef INIS_API_ENDED_H
#define INIS_API_ENDED_H

#include "api/op.h"

/* op_begin(), and with the query parameter ended=true a session that has ended is answered for by `ended`. */
void ended_begin(struct op *op, void (*ended)(struct op *op));

/* In place of go(): all processes, or that of path parameter "name". */
void ended_list(struct op *op);
void ended_get(struct op *op);

/* What is kept of a session; valid during the callback. */
struct ended_kept {
	const struct inis_kept_file *files;
	size_t count;
	const uint8_t *table; /* records: wire/spool_proto.h */
	size_t table_size;
};

/* Reads what is kept of op->session: done() follows, unless that fails or the client has left; then the op is ended. */
typedef void (*ended_done)(struct op *op, const struct ended_kept *kept);
void ended_read(struct op *op, ended_done done);

/* The latest process of this name; false: none. Strings point into the table; release with inis_proc_info_free(). */
bool ended_find(const struct ended_kept *kept, const char *name, struct inis_proc_info *out);

/* The client has left while files were being read: true, and the op has been ended. */
bool ended_left(struct op *op);

#endif
