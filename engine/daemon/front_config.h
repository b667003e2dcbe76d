/* SPDX-License-Identifier: Apache-2.0
 *
 * front_config.h - the front's configuration, as the supervisor hands it over; see front.h.
 */
#ifndef INIS_DAEMON_FRONT_CONFIG_H
#define INIS_DAEMON_FRONT_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct front_config {
	char base_url[256];
	char version[32];
	char store_dir[PATH_MAX];
	char logs_dir[PATH_MAX];
	char **keys; /* in clear until forgotten */
	size_t key_count;
	int64_t exit_when_idle_ms; /* 0 = never */
	int64_t logs_keep_ms;
	int64_t logs_max_bytes;
	uint32_t sessions_max; /* 0 = no cap */
	uint32_t sessions_per_key_max; /* 0 = none, likewise below */
	uint32_t session_requests_max;
	uint32_t connections_max;
	uint32_t rate_limit;
	uint32_t rate_burst;
	bool metrics_local;
	uint32_t pids_max;
	uint32_t disk_mb;
};

/* Reads and closes the descriptor; sets the log level. */
int front_config_read(struct front_config *c, int fd, struct inis_error *err);
/* Overwrites and frees the keys. */
void front_config_forget_keys(struct front_config *c);

#endif
