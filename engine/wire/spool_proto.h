/* SPDX-License-Identifier: Apache-2.0
 *
 * spool_proto.h - what the agent leaves of named processes in the spool directory, pure.
 *
 * DOC: The spool directory
 *
 * Flat: a file for each segment of a stream, whose name says what is in it, and one table of records. It outlives the
 * agent: the broker copies it when the unit goes, the front reads the copy. Both take it for hostile: a file that is
 * not named, or not as long, as is said here is not looked at, and a record that does not decode is not there.
 *
 *	PROCESS@out@0000000000000000	stdout from this offset on, at most INIS_SPOOL_SEGMENT bytes
 *	PROCESS@err@00000000000a0000	stderr likewise
 *	table				slots of INIS_SPOOL_RECORD bytes, each a record or free
 */
#ifndef INIS_WIRE_SPOOL_PROTO_H
#define INIS_WIRE_SPOOL_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "wire/agent_proto.h"

#define INIS_SPOOL_SEGMENT   (1024 * 1024)
#define INIS_SPOOL_TOTAL     (64 * 1024 * 1024) /* of all segments */
#define INIS_SPOOL_RECORD    2048 /* a power of two: no slot crosses a page, so none is ever half written */
#define INIS_SPOOL_RECORDS   1072 /* slots; more than a session can have processes */
#define INIS_SPOOL_TABLE     "table"
#define INIS_SPOOL_TABLE_MAX (INIS_SPOOL_RECORDS * INIS_SPOOL_RECORD)
#define INIS_SPOOL_FILES_MAX 4096 /* of one session, the table included */
#define INIS_SPOOL_NAME_SIZE (INIS_PROC_NAME_MAX + 24)

struct inis_spool_name {
	char process[INIS_PROC_NAME_MAX + 1];
	bool is_err; /* stderr */
	uint64_t start; /* offset of its first byte */
};

void inis_spool_name_put(const struct inis_spool_name *n, char out[static INIS_SPOOL_NAME_SIZE]);
/* false: no name of a segment. */
bool inis_spool_name_parse(const char *text, struct inis_spool_name *out);

/* A slot. serial orders processes by their start, from 1. A command line too long for it is cut. */
void inis_spool_record_put(uint8_t slot[static INIS_SPOOL_RECORD], uint64_t serial, const struct inis_proc_info *m);
/*
 * 1: m and serial are set; strings point into slot; release with inis_proc_info_free(). 0: free, or no record that
 * makes sense.
 */
int inis_spool_record_get(const uint8_t slot[static INIS_SPOOL_RECORD], uint64_t *serial, struct inis_proc_info *m);

/* Whether what a process info says can be true, all of it: the agent is hostile. */
bool inis_proc_info_sound(const struct inis_proc_info *m);
bool inis_exited_sound(const struct inis_exited *e);

#endif
