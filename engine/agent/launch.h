/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.h - a new process in a cgroup of its own becomes the guest's program.
 *
 * Most of that does not depend on the program: a process for the next command is kept ready, whenever there is time,
 * and its pipes with it. It has the agent's rights, waits in the agent's memory and obeys nobody else: guests may see
 * it and, as root, stop or kill it; then the next command is started from the beginning.
 */
#ifndef INIS_AGENT_LAUNCH_H
#define INIS_AGENT_LAUNCH_H

#include <stdbool.h>

#include "agent/child.h"
#include "agent/command.h"
#include "agent/spawn.h"

/*
 * Fills s with the pid, the leaf and the agent's ends of the pipes; returns when the child has become the program or
 * has failed to: its `step` says. The result is valid until the next call; NULL when no process could be made.
 */
const struct child *launch(const struct command *cmd, const struct guest_user *user, bool with_stdin, struct spawned *s,
			   struct inis_error *err);

/* The same with a terminal as all its streams, and without pipes. */
const struct child *launch_on_terminal(const struct command *cmd, const struct guest_user *user, int terminal,
				       struct spawned *s, struct inis_error *err);

/* The first one is made for a guest that is not there yet: its pipes are root's until the guest is welcomed. */
int launch_prepare(struct inis_error *err);
int launch_welcome(struct inis_error *err);

/* A command has ended: in a moment there is time to make the next process ready. */
void launch_make_ready(void);

#endif
