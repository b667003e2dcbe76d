/* SPDX-License-Identifier: Apache-2.0
 *
 * broker_proto.h - what the front asks of the broker.
 *
 * One SOCK_SEQPACKET pair made by the supervisor; one fixed struct a packet,
 * both directions; descriptors by SCM_RIGHTS. Both ends are of one build, HELLO
 * checks it. Each request has an id of the front's choice; its reply carries the
 * id, comes when the work is done, and replies may overtake one another. EVENT
 * packets have id 0. LIST answers with one packet a unit (INIS_B_MORE) and a
 * last one without unit.
 *
 * The front is seen as hostile: the broker checks every field; ids are the only
 * names, never paths.
 */
#ifndef INIS_WIRE_BROKER_PROTO_H
#define INIS_WIRE_BROKER_PROTO_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/id.h"

#define INIS_BROKER_MAGIC   0x6b6f7262u /* "brok" */
#define INIS_BROKER_VERSION 1

enum inis_broker_verb {
	INIS_B_HELLO = 1, /* reply: hello filled in */
	INIS_B_CREATE = 2, /* create -> unit + agent descriptor */
	INIS_B_CONNECT = 3, /* unit id -> agent descriptor */
	INIS_B_DESTROY = 4, /* unit id -> when processes, mounts, cgroups, files are gone; unknown id: success */
	INIS_B_FREEZE = 5,
	INIS_B_THAW = 6,
	INIS_B_STATS = 7, /* unit id -> stats */
	INIS_B_LIST = 8, /* -> units in use, one a packet (pool units are not listed) */
	INIS_B_RESIZE = 9, /* reserved from here: answered not_implemented */
	INIS_B_SNAPSHOT = 10,
	INIS_B_RESTORE = 11,
	INIS_B_FORK = 12,
	INIS_B_NETNS_SOCKET = 13,
	INIS_B_TEMPLATES = 14, /* -> templates, the default one first, one a packet as LIST does */
	INIS_B_EVENT_EXITED = 32, /* event: the unit's PID 1 ended by itself; the unit still needs DESTROY */
	INIS_B_EVENT_TEMPLATES = 33, /* event: TEMPLATES answers something else now */
};

#define INIS_B_REPLY  0x1 /* set in replies */
#define INIS_B_MORE   0x2 /* another packet of the same reply follows */
#define INIS_B_HAS_FD 0x4 /* one descriptor comes with this packet */

#define INIS_TEMPLATE_NAME_MAX    64
#define INIS_TEMPLATE_VERSION_MAX 32
#define INIS_TEMPLATE_REF_MAX     (INIS_TEMPLATE_NAME_MAX + INIS_TEMPLATE_VERSION_MAX)

enum inis_disk_kind {
	INIS_DISK_HARD = 1, /* the kernel enforces disk_mb */
	INIS_DISK_SOFT = 2, /* polled */
};

struct inis_broker_hello {
	uint32_t version;
	uint32_t struct_size; /* sizeof(struct inis_broker_msg) */
	uint32_t pool_ready; /* reply: blank units ready now */
	uint32_t units; /* reply: units in use */
	uint64_t host_mem_mb; /* reply */
	uint32_t disk_kind; /* reply: what new units get */
	uint32_t pool_target; /* reply: blank units wanted */
};

#define INIS_CREATE_NO_SUDO 0x1

struct inis_broker_create {
	struct session_id session; /* whom the unit is for; kept in the unit table */
	char pad_[2];
	char template_name[INIS_TEMPLATE_REF_MAX]; /* NAME or NAME@VERSION; "": the default one */
	char hostname[64];
	uint32_t flags; /* INIS_CREATE_* */
	uint32_t vcpus;
	uint32_t mem_mb;
	uint32_t pids_max;
	uint32_t disk_mb;
	uint32_t reserved;
};

/* A row of the unit table. */
struct inis_broker_unit {
	struct unit_id id;
	char pad_[3];
	struct session_id session;
	char pad2_[2];
	int32_t pid; /* in the broker's pid namespace */
	uint32_t alive; /* 0: PID 1 is gone */
	uint64_t start_time; /* field 22 of /proc/PID/stat */
	uint32_t uid_base;
	uint32_t disk_kind; /* enum inis_disk_kind */
	uint32_t disk_mb;
	uint32_t frozen;
	uint32_t pooled; /* reply to CREATE: it was ready when it was asked for */
	uint32_t reserved;
};

struct inis_broker_stats {
	uint64_t mem_bytes;
	uint64_t mem_peak_bytes;
	uint64_t cpu_us;
	uint64_t oom_kills;
	uint64_t pids;
	uint64_t disk_bytes;
};

/* A template that units can be made from. */
struct inis_broker_template {
	char name[INIS_TEMPLATE_NAME_MAX];
	char version[INIS_TEMPLATE_VERSION_MAX]; /* "": follows the machine */
	char content[72]; /* SHA-256 of its tree in hexadecimal digits, or "" */
	char suite[32];
	int64_t built_at; /* wall clock, ms; 0: not built */
	uint64_t size_bytes;
	uint32_t packages;
	uint32_t reserved;
};

struct inis_broker_msg {
	uint32_t magic;
	uint16_t verb; /* enum inis_broker_verb */
	uint16_t flags; /* INIS_B_* */
	uint64_t request; /* front's choice, not 0; 0 in events */
	uint32_t code; /* reply: enum inis_code, INIS_OK on success */
	uint32_t reserved;
	char message[160]; /* reply: why it failed */
	struct unit_id unit_id; /* request: whom it is about */
	char pad_[7];
	union {
		struct inis_broker_hello hello;
		struct inis_broker_create create;
		struct inis_broker_unit unit;
		struct inis_broker_stats stats;
		struct inis_broker_template template;
		uint8_t bytes[256];
	} u;
};

/* Magic, verb, flags, ids and NUL-termination of every text; -1 when one is off. For both ends. */
int inis_broker_msg_check(const void *data, size_t n, struct inis_broker_msg *out, struct inis_error *err);

/* An empty message of this verb. */
void inis_broker_msg_init(struct inis_broker_msg *m, enum inis_broker_verb verb, uint64_t request);

#endif
