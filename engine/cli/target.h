/* SPDX-License-Identifier: Apache-2.0
 *
 * target.h - which server the command line talks to.
 */
#ifndef INIS_CLI_TARGET_H
#define INIS_CLI_TARGET_H

#include "base/error.h"

struct cli_target {
	char *base_url; /* without a trailing slash */
	char *token;
};

/*
 * INIS_BASE_URL and INIS_API_KEY when set; a key alone means the published service,
 * a URL alone is an error; neither means the embedded engine, started when needed.
 */
int cli_target_find(struct cli_target *target, struct inis_error *err);

/* The embedded engine with its state in state_dir, found or started; safe for many callers at once. */
int cli_embedded_find(struct cli_target *target, const char *state_dir, struct inis_error *err);

void cli_target_free(struct cli_target *target);

#endif
