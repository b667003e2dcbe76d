/* SPDX-License-Identifier: Apache-2.0
 *
 * front_config.c - reads the JSON object that the supervisor left in a memory file.
 */
#include "daemon/front_config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/log.h"

#define CONFIG_MAX (1024 * 1024)

static int read_all(int fd, struct inis_buf *text, struct inis_error *err)
{
	for (;;) {
		uint8_t *room = inis_buf_reserve(text, 4096);
		ssize_t n = room ? pread(fd, room, 4096, (off_t)text->len) : -1;

		if (n < 0)
			return inis_fail_errno(err, "read the configuration");
		if (n == 0)
			return 0;
		text->len += (size_t)n;
	}
}

static int take_text(const json_t *o, const char *name, char *to, size_t size, struct inis_error *err)
{
	const char *text = json_string_value(json_object_get(o, name));

	if (!text || strlen(text) >= size)
		return inis_fail_field(err, name, "must be a string of less than %zu bytes", size);
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

static int take_number(const json_t *o, const char *name, int64_t max, int64_t *to, struct inis_error *err)
{
	const json_t *v = json_object_get(o, name);

	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > max)
		return inis_fail_field(err, name, "must be an integer between 0 and %lld", (long long)max);
	*to = json_integer_value(v);
	return 0;
}

static int take_keys(const json_t *o, struct front_config *c, struct inis_error *err)
{
	const json_t *list = json_object_get(o, "keys");
	size_t i;
	json_t *key;

	if (!json_is_array(list))
		return inis_fail_field(err, "keys", "must be an array");
	c->keys = calloc(json_array_size(list) + 1, sizeof(*c->keys));
	if (!c->keys)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	json_array_foreach (list, i, key) {
		if (!json_is_string(key))
			return inis_fail_field(err, "keys", "items must be strings");
		c->keys[i] = strdup(json_string_value(key));
		if (!c->keys[i])
			return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		c->key_count++;
		explicit_bzero((char *)(uintptr_t)json_string_value(key), json_string_length(key));
	}
	return 0;
}

static int take_count(const json_t *o, const char *name, uint32_t *to, struct inis_error *err)
{
	int64_t number;

	if (take_number(o, name, UINT32_MAX, &number, err) < 0)
		return -1;
	*to = (uint32_t)number;
	return 0;
}

static int take_limits(const json_t *o, struct front_config *c, struct inis_error *err)
{
	c->metrics_local = json_is_true(json_object_get(o, "metrics_local"));
	if (take_count(o, "sessions_per_key_max", &c->sessions_per_key_max, err) < 0 ||
	    take_count(o, "session_requests_max", &c->session_requests_max, err) < 0 ||
	    take_count(o, "connections_max", &c->connections_max, err) < 0 ||
	    take_count(o, "rate_limit", &c->rate_limit, err) < 0)
		return -1;
	return take_count(o, "rate_burst", &c->rate_burst, err);
}

static int take_all(const json_t *o, struct front_config *c, struct inis_error *err)
{
	enum inis_log_level level;
	char level_name[16];
	int64_t sessions, pids, disk;

	if (take_text(o, "base_url", c->base_url, sizeof(c->base_url), err) < 0 ||
	    take_text(o, "version", c->version, sizeof(c->version), err) < 0 ||
	    take_text(o, "store_dir", c->store_dir, sizeof(c->store_dir), err) < 0 ||
	    take_text(o, "logs_dir", c->logs_dir, sizeof(c->logs_dir), err) < 0 ||
	    take_number(o, "logs_keep_ms", INT64_MAX, &c->logs_keep_ms, err) < 0 ||
	    take_number(o, "logs_max_bytes", INT64_MAX, &c->logs_max_bytes, err) < 0 ||
	    take_text(o, "log_level", level_name, sizeof(level_name), err) < 0 ||
	    take_number(o, "exit_when_idle_ms", INT64_MAX, &c->exit_when_idle_ms, err) < 0 ||
	    take_number(o, "sessions_max", UINT32_MAX, &sessions, err) < 0 ||
	    take_number(o, "pids_max", UINT32_MAX, &pids, err) < 0 ||
	    take_number(o, "disk_mb", UINT32_MAX, &disk, err) < 0)
		return -1;
	if (!inis_log_level_parse(level_name, &level))
		return inis_fail_field(err, "log_level", "must be debug, info, warn or error");
	inis_log_set_level(level);
	c->sessions_max = (uint32_t)sessions;
	c->pids_max = (uint32_t)pids;
	c->disk_mb = (uint32_t)disk;
	return take_limits(json_object_get(o, "limits"), c, err) < 0 ? -1 : take_keys(o, c, err);
}

int front_config_read(struct front_config *c, int fd, struct inis_error *err)
{
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(CONFIG_MAX);
	cleanup_close int own = fd;
	json_t *o;
	int rc;

	if (read_all(own, &text, err) < 0)
		return -1;
	o = json_loadb((char *)text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
	rc = json_is_object(o) ? take_all(o, c, err)
			       : inis_fail(err, INIS_INTERNAL, "the configuration is no JSON object");
	json_decref(o);
	explicit_bzero(text.data, text.len);
	return rc;
}

void front_config_forget_keys(struct front_config *c)
{
	for (size_t i = 0; i < c->key_count; i++) {
		explicit_bzero(c->keys[i], strlen(c->keys[i]));
		free(c->keys[i]);
	}
	free(c->keys);
	c->keys = NULL;
	c->key_count = 0;
}
