/* SPDX-License-Identifier: Apache-2.0
 *
 * spool.h - the log of one stream of a named process.
 *
 * Segments of files in agent.spool, which no path of the guest's leads to (wire/spool_proto.h). Offsets count every byte the process wrote. What is too
 * old, or met a full disk, is missing: a reader is moved on over the gap. Appending never fails and never waits for a
 * reader.
 */
#ifndef INIS_AGENT_SPOOL_H
#define INIS_AGENT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/list.h"
#include "base/error.h"
#include "wire/spool_proto.h"

#define SPOOL_SEGMENT INIS_SPOOL_SEGMENT
#define SPOOL_KEEP    (4 * 1024 * 1024) /* of each stream at least, while there is room */
#define SPOOL_TOTAL   INIS_SPOOL_TOTAL /* of all streams at most */

struct spool {
	struct list node;
	struct list segments; /* oldest first */
	const char *process;
	bool is_err;
	int fd; /* the segment being written, -1: the next byte opens one */
	uint64_t end; /* bytes written by the process */
	uint64_t kept;
	bool retired; /* nothing will be appended */
};

/* The name of the process must stay for as long as the spool. */
void spool_init(struct spool *s, const char *process, bool is_err);
void spool_append(struct spool *s, const void *data, size_t n);
/* Its process has ended: the first to give way when room is needed. */
void spool_retire(struct spool *s);
/* Removes its files. Harmless on one that is all zero. */
void spool_remove(struct spool *s);

/* The first byte that is still there; end when there is none. */
uint64_t spool_first(const struct spool *s);

/*
 * Reads at *offset, or at the next byte after it that is there: *offset says where. 0 when there is nothing up to the
 * end.
 */
size_t spool_read(struct spool *s, uint64_t *offset, void *buf, size_t max);

#endif
