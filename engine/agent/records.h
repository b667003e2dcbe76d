/* SPDX-License-Identifier: Apache-2.0
 *
 * records.h - how each named process is, on disk beside its log: it can be read when the agent is gone.
 *
 * A session whose disk was full when a process started has no record of that process.
 */
#ifndef INIS_AGENT_RECORDS_H
#define INIS_AGENT_RECORDS_H

#include "agent/process.h"

/* After the start, and whenever what process_pack_info() says has changed for good. */
void record_put(struct process *p);
/* The process is forgotten. */
void record_remove(struct process *p);

#endif
