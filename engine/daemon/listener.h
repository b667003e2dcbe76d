/* SPDX-License-Identifier: Apache-2.0
 *
 * listener.h - the TCP socket that the front serves.
 */
#ifndef INIS_DAEMON_LISTENER_H
#define INIS_DAEMON_LISTENER_H

#include "base/error.h"
#include "daemon/config.h"

/* Binds and listens; url becomes the configured base URL, or one made from the address. */
int listener_open(const struct inisd_config *config, char *url, size_t size, struct inis_error *err);

#endif
