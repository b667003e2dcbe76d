/* SPDX-License-Identifier: Apache-2.0
 *
 * front_sandbox.h - the system calls the front gives up.
 */
#ifndef INIS_DAEMON_FRONT_SANDBOX_H
#define INIS_DAEMON_FRONT_SANDBOX_H

#include "base/error.h"

/*
 * Loads a filter for all threads, for good: no other program, no process, no mount, no namespace, no socket but
 * unix and internet ones; EPERM each. Threads, files and memory stay as they are. Call once all is set up.
 */
int inis_front_sandbox(struct inis_error *err);

#endif
