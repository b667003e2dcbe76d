/* SPDX-License-Identifier: Apache-2.0
 *
 * activate.h - from a blank unit to a guest.
 */
#ifndef INIS_AGENT_ACTIVATE_H
#define INIS_AGENT_ACTIVATE_H

/*
 * Says READY on INIS_UNIT_FD, waits for ACTIVATE, does it and says ACTIVE. When the broker goes away before that, or
 * a step fails (then it says FAILED), the process exits: a blank unit has no other use.
 */
void activate(void);

#endif
