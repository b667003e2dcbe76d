/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_proto.h - what the broker says to a blank unit's agent to make it a guest, and before that to the zygote.
 *
 * The broker starts the agent's program once, under INIS_ZYGOTE_NAME, with a socket at INIS_UNIT_FD. For each unit it
 * sends one request with two descriptors, the unit's end of a socket of its own and the unit's v2 cgroup, and waits for
 * the answer, which brings a pidfd. The agent is a clone of the zygote and a child of the broker. It goes on when one
 * byte has come through its socket: its ids are mapped then, and its v1 cgroups are joined.
 *
 * A pooled unit has its namespaces, cgroups and kernel file systems and waits on
 * INIS_UNIT_FD (SOCK_SEQPACKET, other end: broker). The agent says READY then, with
 * a stream socket of its network for the broker's first connection to it.
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

#define INIS_AGENT_NAME  "inis-agent"
#define INIS_ZYGOTE_NAME "inis-spawn" /* as long as the agent's */

struct inis_zygote_request {
	uint32_t magic;
	uint32_t reserved;
	uint64_t clone_flags; /* CLONE_*: the unit's namespaces */
};

struct inis_zygote_answer {
	uint32_t magic;
	int32_t pid; /* -1: nothing was cloned, and there is no descriptor */
	int32_t sys_errno;
};

enum inis_unit_verb {
	INIS_UNIT_READY = 1, /* agent: + socket */
	INIS_UNIT_ACTIVATE = 2, /* broker: struct inis_unit_activate + descriptors */
	INIS_UNIT_ACTIVE = 3, /* agent */
	INIS_UNIT_FAILED = 4, /* agent: text says why */
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
	char text[124]; /* what failed and why, NUL-terminated */
};

#endif
