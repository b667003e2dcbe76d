/* SPDX-License-Identifier: Apache-2.0
 *
 * target.h - which server the command line talks to.
 */
#ifndef INIS_CLI_TARGET_H
#define INIS_CLI_TARGET_H

#include <stdbool.h>

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

/* Whether the environment names a server; else it is the embedded engine. */
bool cli_target_given(void);

/* INIS_STATE_DIR, or the default. */
const char *cli_state_dir(void);

/* As cli_target_find(), but an embedded engine that does not run is not started: false. */
bool cli_target_running(struct cli_target *target);

void cli_target_free(struct cli_target *target);

#endif
