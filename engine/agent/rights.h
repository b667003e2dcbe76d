/* SPDX-License-Identifier: Apache-2.0
 *
 * rights.h - what the agent and the guest may do, in stages.
 *
 *   blank      all capabilities of the unit's user namespace
 *   activated  AGENT_CAPS; bounding set GUEST_CAPS; base filter; not dumpable
 *   a command  uid of the guest user, no capabilities, guest filter on top; whatever it gains by set-uid programs
 *              is within GUEST_CAPS, and nothing at all with no_new_privs
 */
#ifndef INIS_AGENT_RIGHTS_H
#define INIS_AGENT_RIGHTS_H

#include <linux/filter.h>
#include <stdbool.h>

#include "base/error.h"

/* First thing in main: what was inherited from whoever started the program is gone. */
void rights_begin(void);

/* After the mounts are in place. */
int rights_drop(bool no_sudo, struct inis_error *err);

/* What every child loads before it gives its uid up. */
extern const struct sock_fprog guest_filter;

#endif
