/* SPDX-License-Identifier: Apache-2.0
 *
 * broker.h - how the supervisor starts the broker.
 *
 * `inis-broker` is started as root with a fixed set of descriptors and no arguments. It makes a mount namespace of
 * its own. Units are not its children for ever: when it ends they run on, and the next broker on the same state
 * directory finds them again.
 *
 *   INIS_BROKER_FD_CONTROL  SOCK_SEQPACKET to the supervisor. Broker to supervisor: one struct inis_broker_started,
 *                           once. Supervisor to broker: packets of one byte with one descriptor, the broker's end
 *                           of a new front's socket pair, which replaces the one before. End of file: the
 *                           supervisor is gone, the broker ends.
 *   INIS_BROKER_FD_CONFIG   sealed memory file: struct inis_broker_config
 *   INIS_BROKER_FD_LOCK     the state directory's lock, held as long as it is open anywhere
 *   INIS_BROKER_FD_RANGES   the machine's file of uid range locks
 *
 * SIGTERM ends it in order: the pool is removed, sessions' units run on. Logs go to stderr, one JSON object a line.
 */
#ifndef INIS_BROKER_BROKER_H
#define INIS_BROKER_BROKER_H

#include <limits.h>
#include <stdint.h>

#include "base/error.h"

#define INIS_BROKER_FD_CONTROL 3
#define INIS_BROKER_FD_CONFIG  4
#define INIS_BROKER_FD_LOCK    5
#define INIS_BROKER_FD_RANGES  6

#define INIS_BROKER_CONFIG_MAGIC 0x676e6f63u
#define INIS_INSTANCE_MAX        16

/* Both ends are of one build: native order. */
struct inis_broker_config {
	uint32_t magic;
	uint32_t size; /* sizeof(struct inis_broker_config) */
	char state_dir[PATH_MAX];
	char agent[PATH_MAX];
	char instance[INIS_INSTANCE_MAX + 1];
	uint32_t uid_base;
	uint32_t uid_ranges;
	uint32_t pool;
	uint32_t disk_mb;
	uint32_t log_level; /* enum inis_log_level */
	uint32_t logs_uid; /* who owns what is kept of ended sessions; 0: nothing is kept */
};

/* Whether the broker is ready; if not, why this machine cannot have units. It then exits with 1. */
struct inis_broker_started {
	uint32_t code; /* enum inis_code */
	char message[320];
};

#endif
