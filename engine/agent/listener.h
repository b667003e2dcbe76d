/* SPDX-License-Identifier: Apache-2.0
 *
 * listener.h - where the client connects.
 */
#ifndef INIS_AGENT_LISTENER_H
#define INIS_AGENT_LISTENER_H

#include "base/error.h"

int listener_start(struct inis_error *err);

#endif
