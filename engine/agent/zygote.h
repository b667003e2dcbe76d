/* SPDX-License-Identifier: Apache-2.0
 *
 * zygote.h - the agent's program once started, from which the agents of units are cloned.
 */
#ifndef INIS_AGENT_ZYGOTE_H
#define INIS_AGENT_ZYGOTE_H

/*
 * Serves the broker at INIS_UNIT_FD (wire/unit_proto.h) until that is gone, and ends then. Returns in each clone: PID 1
 * of a unit, root in it, the unit's socket at INIS_UNIT_FD, nothing else open but 0, 1 and 2. `name` is argv[0], which
 * in the clone becomes the agent's.
 */
void zygote_serve(char *name);

#endif
