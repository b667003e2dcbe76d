/* SPDX-License-Identifier: Apache-2.0
 *
 * spool.h - where the logs of named processes are kept.
 */
#ifndef INIS_AGENT_SPOOL_H
#define INIS_AGENT_SPOOL_H

#include "base/error.h"

/* Makes AGENT_SPOOL_DIR, out of the user's reach. */
int spool_open(struct inis_error *err);

#endif
