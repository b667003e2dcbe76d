/* SPDX-License-Identifier: Apache-2.0
 *
 * config.h - what an operator can say to `inisd serve`: flags and one JSON file; a flag wins.
 */
#ifndef INIS_DAEMON_CONFIG_H
#define INIS_DAEMON_CONFIG_H

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct inisd_config {
	char listen[80]; /* ADDRESS:PORT as given */
	char base_url[256]; /* "": made from the address */
	char state_dir[PATH_MAX];
	char key_file[PATH_MAX]; /* "": STATE_DIR/key */
	bool embedded;
	int64_t exit_when_idle_s; /* 0: never */
	int64_t sessions_max; /* 0: no cap; likewise below */
	int64_t sessions_per_key_max;
	int64_t session_requests_max;
	int64_t connections_max; /* at least some */
	int64_t rate_limit;
	int64_t rate_burst; /* 0: as rate_limit */
	bool metrics_local;
	int64_t pool;
	int64_t disk_mb;
	int64_t pids_max;
	int64_t logs_keep_hours; /* 0: nothing is kept of ended sessions */
	int64_t logs_max_mb;
	int64_t uid_base;
	int64_t uid_ranges;
	int64_t front_uid;
	char log_level[8];

	struct sockaddr_storage address; /* of listen */
	socklen_t address_size;
};

/*
 * Reads argv (after the verb) and the file that --config names. What is wrong is said on `complaints`, all of it,
 * a line each. 0, or -1 when anything was wrong. *help is set when help was asked for.
 */
int inisd_config_read(struct inisd_config *c, int argc, char *const *argv, bool *help, FILE *complaints);

/* "ADDRESS:PORT" with an IPv4 address, an [IPv6] address or "localhost". */
bool inisd_parse_listen(const char *text, struct sockaddr_storage *address, socklen_t *size);

/* The options of `serve` as help text. */
void inisd_config_help(FILE *to);

#endif
