/* SPDX-License-Identifier: Apache-2.0
 *
 * supervisor.h - `inisd serve`.
 */
#ifndef INIS_DAEMON_SUPERVISOR_H
#define INIS_DAEMON_SUPERVISOR_H

#include "daemon/config.h"

/* Serves until SIGTERM, or until the front says that it is idle. Returns the exit status. */
int inisd_serve(const struct inisd_config *config);

#endif
