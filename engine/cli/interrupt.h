/* SPDX-License-Identifier: Apache-2.0
 *
 * interrupt.h - SIGINT, SIGTERM and SIGHUP as a descriptor, so that every wait
 * can be cut short and the session still be cleaned up.
 */
#ifndef INIS_CLI_INTERRUPT_H
#define INIS_CLI_INTERRUPT_H

#include "base/error.h"

/* Blocks the signals for good; the descriptor reads as ready once one has come. */
int cli_interrupts_open(struct inis_error *err);

/* The signal that has come, else 0. Waits up to timeout_ms for it. */
int cli_interrupted(int fd, int timeout_ms);

#endif
