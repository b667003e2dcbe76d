/* SPDX-License-Identifier: Apache-2.0
 *
 * pages.c - lists that the server gives in pages.
 */
#include "cli/pages.h"

#include <stdio.h>

static int fetch(const struct cli_client *client, const char *path, const char *cursor, json_t **page,
		 struct inis_error *err)
{
	char *text = curl_easy_escape(NULL, cursor, 0);
	char with_cursor[1024];
	int length = snprintf(with_cursor, sizeof(with_cursor), "%s%s%s", path, *cursor ? "&cursor=" : "", text);

	curl_free(text);
	if (length < 0 || (size_t)length >= sizeof(with_cursor))
		return inis_fail(err, INIS_BAD_REQUEST, "the server's cursor is too long");
	return cli_request(client, "GET", with_cursor, NULL, page, err);
}

int cli_pages(const struct cli_client *client, const char *path, cli_page take, void *ctx, struct inis_error *err)
{
	json_t *page = NULL;
	const char *cursor = "";
	int rc = 0;

	while (rc == 0 && cursor) {
		json_t *next = NULL;

		rc = fetch(client, path, cursor, &next, err);
		json_decref(page);
		page = next;
		if (rc == 0)
			rc = take(ctx, page, err);
		cursor = json_string_value(json_object_get(page, "next_cursor"));
	}
	json_decref(page);
	return rc;
}
