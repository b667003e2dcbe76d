/* SPDX-License-Identifier: Apache-2.0
 *
 * record.h - a row of the unit table: units/<id>/unit, at its end renamed to ending, then emptied.
 *
 * Written before the unit could matter and replaced by one write of less than a page, which the death of the broker
 * does not cut in two (a power cut might, and ends the unit); a record with a session is a unit in use, one
 * without belonged to the pool. Read back after a restart it is believed only as far as the kernel agrees.
 */
#ifndef INIS_DRIVER_CONTAINER_RECORD_H
#define INIS_DRIVER_CONTAINER_RECORD_H

#include <stdint.h>

#include "base/id.h"
#include "os/proc.h"

#define RECORD_MAGIC   0x636e7569u
#define RECORD_VERSION 2
#define RECORD_BASE    96

/* How far the end of a unit has come. The name of its record says it, so that telling is one rename. */
enum record_stage {
	RECORD_IN_USE, /* or in the pool */
	RECORD_ENDING, /* nobody's any more; what its session leaves behind has not been looked at */
	RECORD_EMPTIED, /* it has: the rest is rubbish */
};

struct record {
	uint32_t magic;
	uint32_t version;
	struct unit_id id;
	struct session_id session; /* "" in the pool */
	char boot_id[INIS_BOOT_ID_SIZE];
	char base[RECORD_BASE]; /* directory of the base below templates/ */
	int32_t pid;
	uint64_t start_time;
	uint32_t uid_base;
	uint32_t disk_kind; /* enum inis_disk_kind */
	uint32_t disk_mb;
	int32_t loop; /* number of the loop device, -1 when soft */
};

void record_init(struct record *r);

/* 0 when the bytes are a record of unit `id` with sound fields. */
int record_check(const void *data, size_t n, const struct unit_id *id, struct record *out, struct inis_error *err);

int record_write(int unit_dir, const struct record *r, struct inis_error *err);
int record_read(int unit_dir, const struct unit_id *id, struct record *out, enum record_stage *stage,
		struct inis_error *err);
/* From the stage before. */
void record_advance(int unit_dir, enum record_stage to);

#endif
