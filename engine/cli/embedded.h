/* SPDX-License-Identifier: Apache-2.0
 *
 * embedded.h - starting the embedded engine; see target.h for finding it.
 */
#ifndef INIS_CLI_EMBEDDED_H
#define INIS_CLI_EMBEDDED_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "cli/target.h"

struct cli_embedded_start {
	int wait_ms; /* how long it may take */
	const char *idle_seconds; /* it ends by itself after so long without session and request; "0": never */
	bool started; /* it was not there before; set by cli_embedded_find() */
};

#define CLI_EMBEDDED_START_INIT                         \
	{                                               \
		.wait_ms = 30000, .idle_seconds = "300" \
	}

/* The embedded engine with its state in state_dir, found or started; safe for many callers at once. unavailable. */
int cli_embedded_find(struct cli_target *target, const char *state_dir, struct cli_embedded_start *how,
		      struct inis_error *err);

/*
 * Reads STATE_DIR/engine.json and proves that the engine it names lives: process id and
 * start time match, and it answers. True with *target filled; false when there is none.
 */
bool cli_embedded_alive(struct cli_target *target, const char *state_dir);

/* The process of the engine, whether it answers or not; 0 when there is none. */
pid_t cli_embedded_pid(const char *state_dir);

/* Starts an engine and waits until it is alive. The caller holds the start lock. */
int cli_embedded_start(struct cli_target *target, const char *state_dir, const struct cli_embedded_start *how,
		       struct inis_error *err);

#endif
