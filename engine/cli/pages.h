/* SPDX-License-Identifier: Apache-2.0
 *
 * pages.h - lists that the server gives in pages.
 */
#ifndef INIS_CLI_PAGES_H
#define INIS_CLI_PAGES_H

#include <jansson.h>

#include "base/error.h"
#include "cli/client.h"

/* 0: the next page, 1: enough, -1: it failed. */
typedef int (*cli_page)(void *ctx, const json_t *page, struct inis_error *err);

/* GET path, which has a query, from its first page on. What take() said last: 0 when there are no more. */
int cli_pages(const struct cli_client *client, const char *path, cli_page take, void *ctx, struct inis_error *err);

#endif
