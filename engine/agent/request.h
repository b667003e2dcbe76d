/* SPDX-License-Identifier: Apache-2.0
 *
 * request.h - from the first message of a channel to its handler.
 */
#ifndef INIS_AGENT_REQUEST_H
#define INIS_AGENT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Whether this type of frame may open a channel. */
bool request_known(uint16_t type);

/* Answers, or opens a channel that will; a failure is answered with ERROR. */
void request_handle(uint32_t channel, uint16_t type, const void *data, size_t n);

/* What a handler answers to a message it cannot decode. */
int request_malformed(struct inis_error *err);

#endif
