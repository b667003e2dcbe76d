/* SPDX-License-Identifier: Apache-2.0
 *
 * rights.h - what the agent and the guest may do, in stages.
 *
 *   starting   all capabilities of the unit's user namespace; not dumpable
 *   blank      what moving in takes; bounding set GUEST_CAPS
 *   activated  AGENT_CAPS; base filter
 *   a command  uid of the guest user, no capabilities, guest filter on top; whatever it gains by set-uid programs
 *              is within GUEST_CAPS, and nothing at all with no_new_privs
 */
#ifndef INIS_AGENT_RIGHTS_H
#define INIS_AGENT_RIGHTS_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* What the kernel takes for a signal: the library keeps two signals to itself. */
struct kernel_sigaction {
	unsigned long handler;
	unsigned long flags;
	unsigned long restorer;
	uint64_t mask;
};

/* First thing in main: what was inherited from whoever started the program is gone. */
void rights_begin(void);

/* When all that needs no session has been made. */
int rights_be_blank(struct inis_error *err);

/* When the unit is the session's. */
int rights_drop(bool no_sudo, struct inis_error *err);

/* What every child loads before it gives its uid up; the base filter only when it has not inherited it. */
extern const struct sock_fprog base_filter;
extern const struct sock_fprog guest_filter;

#endif
