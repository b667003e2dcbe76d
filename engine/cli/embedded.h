/* SPDX-License-Identifier: Apache-2.0
 *
 * embedded.h - starting the embedded engine; see target.h for finding it.
 */
#ifndef INIS_CLI_EMBEDDED_H
#define INIS_CLI_EMBEDDED_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/target.h"

/*
 * Reads STATE_DIR/engine.json and proves that the engine it names lives: process id and
 * start time match, and it answers. True with *target filled; false when there is none.
 */
bool cli_embedded_alive(struct cli_target *target, const char *state_dir);

/* Starts an engine and waits until it is alive. The caller holds the start lock. */
int cli_embedded_start(struct cli_target *target, const char *state_dir, struct inis_error *err);

#endif
