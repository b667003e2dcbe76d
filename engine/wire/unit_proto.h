/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_proto.h - what the broker says to a blank unit's agent to make it a guest.
 *
 * A pooled unit has its namespaces, cgroups and kernel file systems and waits on
 * INIS_UNIT_FD (SOCK_SEQPACKET, other end: broker). The agent says READY then.
 * Activation is one packet with the descriptors of detached mounts; the agent
 * pivots, moves them into place, listens on INIS_AGENT_SOCKET and says ACTIVE,
 * or FAILED and exits. After ACTIVE it drops its last rights, before it serves
 * anybody, or exits. Afterwards the descriptor is closed by both.
 *
 * Both ends are of one build: fixed structs, native order.
 */
#ifndef INIS_WIRE_UNIT_PROTO_H
#define INIS_WIRE_UNIT_PROTO_H

#include <stdint.h>

#define INIS_UNIT_FD           3
#define INIS_UNIT_MAGIC        0x74696e75u /* "unit" */
#define INIS_UNIT_MOUNTS_MAX   24
#define INIS_UNIT_TARGET_MAX   48
#define INIS_UNIT_HOSTNAME_MAX 64

enum inis_unit_verb {
	INIS_UNIT_READY = 1, /* agent */
	INIS_UNIT_ACTIVATE = 2, /* broker: struct inis_unit_activate + descriptors */
	INIS_UNIT_ACTIVE = 3, /* agent */
	INIS_UNIT_FAILED = 4, /* agent: sys_errno and step say why */
};

/* What a descriptor of INIS_UNIT_ACTIVATE is; same order as the descriptors. */
enum inis_unit_fd_kind {
	INIS_UNIT_FD_ROOT = 1, /* detached overlay: becomes / ; always first */
	INIS_UNIT_FD_MOUNT = 2, /* detached mount, moved to target below the new root; target exists there */
	INIS_UNIT_FD_OOM_COUNTER =
		3, /* cgroup v2 memory.events or v1 memory.oom_control, read-only; holds a line "oom_kill N" */
	INIS_UNIT_FD_SPOOL = 4, /* directory for what is kept of processes, on the unit's disk: wire/spool_proto.h */
};

#define INIS_UNIT_NO_SUDO 0x1 /* set no_new_privs: nothing in the guest ever gains rights */

struct inis_unit_fd {
	uint32_t kind;
	char target[INIS_UNIT_TARGET_MAX]; /* absolute, NUL-terminated; "" unless MOUNT */
};

struct inis_unit_activate {
	uint32_t magic;
	uint32_t verb;
	uint32_t flags; /* INIS_UNIT_* */
	uint32_t fd_count;
	uint32_t shm_mb; /* size of /dev/shm */
	uint32_t reserved;
	char hostname[INIS_UNIT_HOSTNAME_MAX];
	struct inis_unit_fd fds[INIS_UNIT_MOUNTS_MAX];
};

struct inis_unit_status {
	uint32_t magic;
	uint32_t verb; /* READY, ACTIVE or FAILED */
	int32_t sys_errno;
	char step[60]; /* which step failed, for the log */
};

#endif
