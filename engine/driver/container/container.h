/* SPDX-License-Identifier: Apache-2.0
 *
 * container.h - the driver of namespaced containers.
 */
#ifndef INIS_DRIVER_CONTAINER_H
#define INIS_DRIVER_CONTAINER_H

#include "driver/driver.h"
#include "os/events.h"

struct inis_container_config {
	struct inis_events *events; /* the broker's loop */
	const char *state_dir; /* absolute; root's, searchable by all */
	const char *instance; /* [a-z0-9]{1,16}: tells servers of one machine apart */
	const char *agent; /* absolute path of the agent program */
	uint32_t uid_base; /* first uid of the ranges */
	uint32_t uid_ranges; /* how many ranges of 65536 */
	uint32_t pool; /* blank units kept ready */
	uint32_t disk_mb; /* disk of pooled units; another size costs the time to make it */
	uint32_t logs_uid; /* owner of what is kept of sessions in logs/; 0: nothing is kept */
	int range_locks; /* file shared by all servers of the machine, or -1; stays the caller's */
};

/*
 * Makes the driver: needs a mount namespace of its own, in which nothing propagates and /run is writable. Adopts
 * the units that an earlier driver left running on this state directory and removes all else that it left.
 * Fails naming what the machine lacks.
 */
struct inis_driver *inis_container_new(const struct inis_container_config *config, struct inis_error *err);

#endif
