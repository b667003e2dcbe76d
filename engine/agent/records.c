/* SPDX-License-Identifier: Apache-2.0
 *
 * records.c - the table of records in the spool directory.
 *
 * A process keeps its slot, so what is written at its end goes where there is room already. Nothing waits for the
 * disk: the kernel has the bytes, and they outlive the agent.
 */
#include "agent/records.h"

#include <fcntl.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/cleanup.h"

static int table = -1;
static bool taken[INIS_SPOOL_RECORDS];

static bool open_table(void)
{
	if (table < 0)
		table = openat(agent.spool, INIS_SPOOL_TABLE, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return table >= 0;
}

/* Slots are counted from 1: 0 is none. */
static unsigned take_slot(void)
{
	for (unsigned i = 0; i < INIS_SPOOL_RECORDS; i++) {
		if (!taken[i]) {
			taken[i] = true;
			return i + 1;
		}
	}
	return 0;
}

static void write_slot(unsigned slot, const uint8_t record[static INIS_SPOOL_RECORD])
{
	ssize_t n = pwrite(table, record, INIS_SPOOL_RECORD, (off_t)(slot - 1) * INIS_SPOOL_RECORD);

	/* What cannot be written is not kept. */
	(void)n;
}

void record_put(struct process *p)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	uint8_t record[INIS_SPOOL_RECORD];
	struct inis_proc_info info;

	if (!open_table())
		return;
	if (p->slot == 0)
		p->slot = take_slot();
	process_pack_info(&b, p, 0);
	if (p->slot == 0 || inis_buf_failed(&b) || inis_proc_info_unpack(b.data, b.len, &info) < 0)
		return;
	inis_spool_record_put(record, p->serial, &info);
	inis_proc_info_free(&info);
	write_slot(p->slot, record);
}

void record_remove(struct process *p)
{
	static const uint8_t nothing[INIS_SPOOL_RECORD];

	if (p->slot == 0)
		return;
	write_slot(p->slot, nothing);
	taken[p->slot - 1] = false;
	p->slot = 0;
}
