/* SPDX-License-Identifier: Apache-2.0
 *
 * search_proto.h - the messages of FILE_FIND and FILE_GREP, and the records of their answers.
 *
 * The answer is a stream (OUT) of records, one after the other; a record may
 * cross frames. A search that was stopped by a limit ends with
 * INIS_END_TRUNCATED; its last record may then be incomplete and is dropped.
 *
 * Pure codecs. Decoded strings point into the message. Paths of answers begin
 * with /workspace and are the bytes of the guest; so are the lines of a match.
 */
#ifndef INIS_WIRE_SEARCH_PROTO_H
#define INIS_WIRE_SEARCH_PROTO_H

#include <sys/types.h>

#include "base/pack.h"

#define INIS_SEARCH_PATTERN_MAX  4096 /* bytes of a pattern */
#define INIS_SEARCH_CONTEXT_MAX  10 /* lines */
#define INIS_SEARCH_LINE_MAX     4096 /* bytes shown of a line */
#define INIS_SEARCH_FILE_MATCHES 100 /* lines told of one file */
#define INIS_SEARCH_OUTPUT_MAX   ((size_t)8 * 1024 * 1024) /* bytes of records, beyond which a search ends */

#define INIS_SEARCH_NO_HIDDEN 0x1 /* names that begin with a dot are left out */
#define INIS_SEARCH_CASE      0x2 /* grep: case counts */

/* Both verbs. */
struct inis_search {
	struct inis_str path; /* where to begin */
	struct inis_str pattern; /* find: glob; grep: regular expression */
	uint32_t flags; /* INIS_SEARCH_* */
	uint32_t max_results; /* find: paths; grep: files with a match */
	uint32_t budget_ms; /* then it ends, truncated */
	uint32_t max_depth; /* find: levels below path; 0 = all */
	/* grep */
	uint32_t context; /* lines before and after a match */
	struct inis_str file_pattern; /* glob for base names; "" = all */
	struct inis_str exclude_dirs; /* names separated by commas */
};
void inis_search_pack(struct inis_buf *b, const struct inis_search *m);
int inis_search_unpack(const void *data, size_t n, struct inis_search *m);

enum inis_record_kind {
	INIS_RECORD_FOUND = 1,
	INIS_RECORD_MATCH = 2,
	INIS_RECORD_SEARCHED = 3, /* grep: files looked into so far; at least once, at the end of a whole search */
};

struct inis_found {
	uint8_t type; /* enum inis_file_type */
	uint32_t mode; /* permission bits */
	uint64_t size;
	int64_t mtime_ms;
	struct inis_str path;
};

struct inis_match {
	struct inis_str path;
	uint32_t line_number; /* from 1 */
	struct inis_str line;
	uint8_t n_before;
	uint8_t n_after;
	struct inis_str before[INIS_SEARCH_CONTEXT_MAX]; /* in the order of the file */
	struct inis_str after[INIS_SEARCH_CONTEXT_MAX];
};

struct inis_record {
	uint8_t kind; /* enum inis_record_kind: which member counts */
	struct inis_found found;
	struct inis_match match;
	uint64_t searched;
};
void inis_record_pack(struct inis_buf *b, const struct inis_record *r);
/* The record at the front: its length, 0 when it is not complete, -1 when it is malformed. */
ssize_t inis_record_unpack(const void *data, size_t n, struct inis_record *r);

#endif
