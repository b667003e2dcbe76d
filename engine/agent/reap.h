/* SPDX-License-Identifier: Apache-2.0
 *
 * reap.h - PID 1 reaps everything that dies in the unit.
 */
#ifndef INIS_AGENT_REAP_H
#define INIS_AGENT_REAP_H

#include <stdbool.h>

#include "base/error.h"

int reap_start(struct inis_error *err);
/* What is dead now, or as much of it as one turn of the loop may take: then true. */
bool reap_some(void);

#endif
