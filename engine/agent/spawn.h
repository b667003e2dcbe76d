/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.h - starting a process of the guest.
 */
#ifndef INIS_AGENT_SPAWN_H
#define INIS_AGENT_SPAWN_H

#include <sys/types.h>

#include "agent/cgroup.h"
#include "wire/agent_proto.h"

/* All owned by whoever gets it. */
struct spawned {
	pid_t pid; /* to be reaped */
	struct leaf leaf;
	int in; /* -1: stdin is /dev/null */
	int out;
	int err;
	/* The program could not be run: what its stderr says about it; the exit status is 126 or 127. Else "". */
	char complaint[256];
};

/*
 * Fails, and has started nothing, when a field is wrong, the working directory cannot be entered or resources are
 * short.
 */
int spawn(const struct inis_exec *m, struct spawned *s, struct inis_error *err);

/* The same with a terminal as its three standard streams and its controlling terminal; in, out and err stay -1. */
int spawn_on_terminal(const struct inis_exec *m, int terminal, struct spawned *s, struct inis_error *err);

#endif
