/* SPDX-License-Identifier: Apache-2.0
 *
 * http_json.c - any body is refused or becomes an object that can be written and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/json.h"
#include "http/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int depth_of(const json_t *value)
{
	json_t *item;
	const char *key;
	size_t i;
	int deepest = 0;

	if (json_is_array(value)) {
		json_array_foreach (value, i, item)
			deepest = depth_of(item) > deepest ? depth_of(item) : deepest;
		return deepest + 1;
	}
	if (json_is_object(value)) {
		json_object_foreach ((json_t *)value, key, item)
			deepest = depth_of(item) > deepest ? depth_of(item) : deepest;
		return deepest + 1;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *value = http_json_object(data, n, &err), *again;
	char *text;

	if (!value) {
		if (err.code != INIS_BAD_REQUEST || !http_utf8_valid(err.message, strlen(err.message)))
			abort();
		return 0;
	}
	if (!json_is_object(value) || depth_of(value) > HTTP_JSON_DEPTH_MAX)
		abort();
	text = json_dumps(value, JSON_COMPACT);
	again = text ? http_json_object(text, strlen(text), &err) : NULL;
	if (!again || !json_equal(value, again))
		abort();
	json_decref(again);
	json_decref(value);
	free(text);
	return 0;
}
