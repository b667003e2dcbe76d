/* SPDX-License-Identifier: Apache-2.0
 *
 * fields.c - typed, checked reading of request members and query parameters.
 */
#include "api/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"

/* NULL for absent and for null, which mean the same. */
static json_t *member(const json_t *o, const char *name)
{
	json_t *v = json_object_get(o, name);

	return json_is_null(v) ? NULL : v;
}

int field_required(const json_t *o, const char *name, struct inis_error *err)
{
	return member(o, name) ? 0 : inis_fail_field(err, name, "is required");
}

static bool has_nul(const json_t *text)
{
	return memchr(json_string_value(text), '\0', json_string_length(text)) != NULL;
}

int field_text(const json_t *o, const char *name, size_t min, size_t max, const char **out, struct inis_error *err)
{
	const json_t *v = member(o, name);

	if (!v)
		return 0;
	if (!json_is_string(v))
		return inis_fail_field(err, name, "must be a string");
	if (has_nul(v))
		return inis_fail_field(err, name, "must not contain U+0000");
	if (json_string_length(v) < min || json_string_length(v) > max)
		return inis_fail_field(err, name, "must be %zu to %zu bytes long", min, max);
	*out = json_string_value(v);
	return 0;
}

int field_path(const json_t *o, const char *name, const char **out, struct inis_error *err)
{
	if (field_required(o, name, err) < 0)
		return -1;
	return field_text(o, name, 1, FIELD_PATH_MAX, out, err);
}

static int range_error(struct inis_error *err, const char *name, int64_t min, int64_t max)
{
	return inis_fail_field(err, name, "must be an integer between %lld and %lld", (long long)min, (long long)max);
}

int field_int(const json_t *o, const char *name, int64_t min, int64_t max, int64_t *out, struct inis_error *err)
{
	const json_t *v = member(o, name);

	if (!v)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < min || json_integer_value(v) > max)
		return range_error(err, name, min, max);
	*out = json_integer_value(v);
	return 0;
}

int field_bool(const json_t *o, const char *name, bool *out, struct inis_error *err)
{
	const json_t *v = member(o, name);

	if (!v)
		return 0;
	if (!json_is_boolean(v))
		return inis_fail_field(err, name, "must be true or false");
	*out = json_is_true(v);
	return 0;
}

static int choose(const char *name, const char *text, const char *const *choices, int *out, struct inis_error *err)
{
	cleanup_buf struct inis_buf list = INIS_BUF_INIT(256);

	for (int i = 0; choices[i]; i++) {
		if (text && strcmp(text, choices[i]) == 0) {
			*out = i;
			return 0;
		}
		inis_buf_printf(&list, "%s%s", i ? ", " : "", choices[i]);
	}
	return inis_fail_field(err, name, "must be one of: %s", inis_buf_cstr(&list) ? (char *)list.data : "");
}

int field_choice(const json_t *o, const char *name, const char *const *choices, int *out, struct inis_error *err)
{
	const json_t *v = member(o, name);

	if (!v)
		return 0;
	return choose(name, json_is_string(v) && !has_nul(v) ? json_string_value(v) : NULL, choices, out, err);
}

static int map_of_texts(const json_t *o, const char *name, size_t count_max, json_t **out, struct inis_error *err)
{
	json_t *v = member(o, name);
	const char *key;
	json_t *value;

	if (!v)
		return 0;
	if (!json_is_object(v))
		return inis_fail_field(err, name, "must be an object of strings");
	if (json_object_size(v) > count_max)
		return inis_fail_field(err, name, "must have at most %zu members", count_max);
	json_object_foreach (v, key, value) {
		if (!json_is_string(value))
			return inis_fail_field(err, name, "value of \"%.80s\" must be a string", key);
		if (has_nul(value))
			return inis_fail_field(err, name, "value of \"%.80s\" must not contain U+0000", key);
	}
	if (json_object_size(v) > 0)
		*out = v;
	return 0;
}

int field_labels(const json_t *o, const char *name, json_t **out, struct inis_error *err)
{
	json_t *map = NULL;
	const char *key;
	json_t *value;

	if (map_of_texts(o, name, LABELS_MAX, &map, err) < 0)
		return -1;
	json_object_foreach (map, key, value) {
		if (strlen(key) < 1 || strlen(key) > 63)
			return inis_fail_field(err, name, "a label's name must be 1 to 63 bytes long");
		if (json_string_length(value) > 255)
			return inis_fail_field(err, name, "value of \"%s\" must be at most 255 bytes long", key);
	}
	if (map)
		*out = map;
	return 0;
}

static bool is_env_name(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	return n > 0 && n <= 255 && s[n] == '\0' && !(s[0] >= '0' && s[0] <= '9');
}

int field_env(const json_t *o, const char *name, json_t **out, struct inis_error *err)
{
	size_t total = 0;
	json_t *map = NULL;
	const char *key;
	json_t *value;

	if (map_of_texts(o, name, ENV_NAMES_MAX, &map, err) < 0)
		return -1;
	json_object_foreach (map, key, value) {
		if (!is_env_name(key))
			return inis_fail_field(err, name, "\"%.80s\" is not a name of a variable", key);
		total += strlen(key) + json_string_length(value);
	}
	if (total > ENV_TOTAL_MAX)
		return inis_fail_field(err, name, "must be at most %d bytes in all", ENV_TOTAL_MAX);
	if (map)
		*out = map;
	return 0;
}

int field_array(const json_t *o, const char *name, size_t max, json_t **out, struct inis_error *err)
{
	json_t *v = member(o, name);

	if (!v)
		return 0;
	if (!json_is_array(v))
		return inis_fail_field(err, name, "must be an array");
	if (json_array_size(v) > max)
		return inis_fail_field(err, name, "must have at most %zu items", max);
	*out = v;
	return 0;
}

static int too_large(struct inis_error *err, const char *name, size_t max)
{
	inis_fail_field(err, name, "must be at most %zu bytes", max);
	if (err)
		err->code = INIS_PAYLOAD_TOO_LARGE;
	return -1;
}

int field_content(const json_t *o, const char *name, const char *encoding_name, size_t max, struct inis_buf *out,
		  struct inis_error *err)
{
	static const char *const encodings[] = {"text", "base64", NULL};
	const json_t *v = member(o, name);
	int encoding = 0;

	if (field_choice(o, encoding_name, encodings, &encoding, err) < 0)
		return -1;
	if (!v)
		return 0;
	if (!json_is_string(v))
		return inis_fail_field(err, name, "must be a string");
	if (encoding == 0)
		inis_buf_append(out, json_string_value(v), json_string_length(v));
	else if (json_string_length(v) / 4 * 3 > max + 2)
		return too_large(err, name, max);
	else if (!inis_base64_decode(out, json_string_value(v), json_string_length(v)))
		return inis_fail_field(err, name, "must be standard base64");
	if (inis_buf_failed(out))
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	return out->len > max ? too_large(err, name, max) : 0;
}

/* ---- query ---- */

int query_int(const struct http_request *rq, const char *name, int64_t min, int64_t max, int64_t *out,
	      struct inis_error *err)
{
	const char *text = http_query(rq, name);
	long long value;
	size_t digits;

	if (!text)
		return 0;
	digits = strspn(text, "0123456789");
	errno = 0;
	value = strtoll(text, NULL, 10);
	if (digits == 0 || text[digits] != '\0' || errno != 0 || value < min || value > max)
		return range_error(err, name, min, max);
	*out = value;
	return 0;
}

int query_bool(const struct http_request *rq, const char *name, bool *out, struct inis_error *err)
{
	static const char *const words[] = {"false", "true", NULL};
	int index = *out;

	if (query_choice(rq, name, words, &index, err) < 0)
		return -1;
	*out = index;
	return 0;
}

int query_choice(const struct http_request *rq, const char *name, const char *const *choices, int *out,
		 struct inis_error *err)
{
	const char *text = http_query(rq, name);

	return text ? choose(name, text, choices, out, err) : 0;
}

int query_path(const struct http_request *rq, const char **out, struct inis_error *err)
{
	const char *path = http_query(rq, "path");

	if (!path)
		return inis_fail_field(err, "path", "is required");
	if (path[0] == '\0' || strlen(path) > FIELD_PATH_MAX)
		return inis_fail_field(err, "path", "must be 1 to %d bytes long", FIELD_PATH_MAX);
	*out = path;
	return 0;
}

bool text_printable(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f)
			return false;
	}
	return true;
}

bool text_is_name(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789._-");

	return n >= 1 && n <= 63 && text[n] == '\0' && text[0] != '.' && text[0] != '_' && text[0] != '-';
}
