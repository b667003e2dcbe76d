/* SPDX-License-Identifier: Apache-2.0
 *
 * command.c - the members that execs and processes have in common: argv, cwd, env.
 */
#include "api/command.h"

#include <stdlib.h>
#include <string.h>

#include "api/fields.h"

#define TIMEOUT_DEFAULT_MS 300000
#define TIMEOUT_MAX_MS     3600000

static struct inis_str str(const char *s)
{
	return (struct inis_str){s, strlen(s)};
}

static int no_memory(struct inis_error *err)
{
	return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
}

static int check_arg(const json_t *item, size_t *total, struct inis_error *err)
{
	if (!json_is_string(item))
		return inis_fail_field(err, "command", "items must be strings");
	if (strlen(json_string_value(item)) != json_string_length(item))
		return inis_fail_field(err, "command", "items must not contain U+0000");
	if (json_string_length(item) > COMMAND_ARG_MAX)
		return inis_fail_field(err, "command", "items must be at most %d bytes long", COMMAND_ARG_MAX);
	*total += json_string_length(item) + 1;
	return 0;
}

/* A bare string is a line for the login shell. */
static int read_line(struct command *c, const json_t *line, struct inis_error *err)
{
	size_t total = 0;

	if (check_arg(line, &total, err) < 0)
		return -1;
	if (json_string_length(line) == 0)
		return inis_fail_field(err, "command", "must not be empty");
	c->argv = calloc(3, sizeof(*c->argv));
	if (!c->argv)
		return no_memory(err);
	c->argv[0] = str("bash");
	c->argv[1] = str("-lc");
	c->argv[2] = str(json_string_value(line));
	c->argc = 3;
	return 0;
}

static int read_argv(struct command *c, const json_t *list, struct inis_error *err)
{
	size_t total = 0;
	size_t i;
	json_t *item;

	if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > INIS_ARGV_MAX)
		return inis_fail_field(err, "command", "must be an array of 1 to %d strings, or a string",
				       INIS_ARGV_MAX);
	c->argv = calloc(json_array_size(list), sizeof(*c->argv));
	if (!c->argv)
		return no_memory(err);
	json_array_foreach (list, i, item) {
		if (check_arg(item, &total, err) < 0)
			return -1;
		c->argv[c->argc++] = str(json_string_value(item));
	}
	if (total > COMMAND_TOTAL_MAX)
		return inis_fail_field(err, "command", "must be at most %d bytes in all", COMMAND_TOTAL_MAX);
	return 0;
}

int command_read(struct command *c, const json_t *body, struct inis_error *err)
{
	const json_t *v = json_object_get(body, "command");

	memset(c, 0, sizeof(*c));
	if (field_required(body, "command", err) < 0 ||
	    (json_is_string(v) ? read_line(c, v, err) : read_argv(c, v, err)) < 0 ||
	    field_text(body, "cwd", 1, FIELD_PATH_MAX, &c->cwd, err) < 0 ||
	    field_env(body, "env", &c->call_env, err) < 0) {
		command_free(c);
		return -1;
	}
	return 0;
}

int command_timeout(const json_t *body, int64_t *ms, struct inis_error *err)
{
	*ms = 0;
	if (field_int(body, "timeout_ms", 0, FIELD_INT_MAX, ms, err) < 0)
		return -1;
	if (*ms == 0)
		*ms = TIMEOUT_DEFAULT_MS;
	if (*ms > TIMEOUT_MAX_MS)
		*ms = TIMEOUT_MAX_MS;
	return 0;
}

static json_t *merged(const json_t *env, json_t *secrets, json_t *call)
{
	json_t *all = env ? json_copy((json_t *)(uintptr_t)env) : json_object();

	if (all && ((secrets && json_object_update(all, secrets) < 0) || (call && json_object_update(all, call) < 0))) {
		json_decref(all);
		return NULL;
	}
	return all;
}

/* The list can point into the text only when that has stopped growing. */
static int index_env(struct command *c, size_t count)
{
	const char *at = (const char *)c->env_text.data;

	c->env = count ? calloc(count, sizeof(*c->env)) : NULL;
	if (count && !c->env)
		return -1;
	for (; c->envc < count; c->envc++) {
		c->env[c->envc] = str(at);
		at += c->env[c->envc].len + 1;
	}
	return 0;
}

int command_merge_env(struct command *c, const struct session_spec *spec, struct inis_error *err)
{
	json_t *all = merged(spec->env, spec->secrets, c->call_env);
	size_t count = json_object_size(all);
	size_t size = 0;
	const char *name;
	json_t *value;

	if (!all)
		return no_memory(err);
	if (count > INIS_ENV_MAX) {
		json_decref(all);
		return inis_fail_field(err, "env", "makes more than %d variables with those of the session",
				       INIS_ENV_MAX);
	}
	/* One piece, so that growing leaves no copies of secrets behind. */
	json_object_foreach (all, name, value)
		size += strlen(name) + json_string_length(value) + 2;
	inis_buf_reserve(&c->env_text, size);
	json_object_foreach (all, name, value) {
		inis_buf_puts(&c->env_text, name);
		inis_buf_puts(&c->env_text, "=");
		inis_buf_append(&c->env_text, json_string_value(value), json_string_length(value) + 1);
	}
	json_decref(all);
	if (inis_buf_failed(&c->env_text) || index_env(c, count) < 0)
		return no_memory(err);
	return 0;
}

void command_free(struct command *c)
{
	if (c->env_text.data)
		explicit_bzero(c->env_text.data, c->env_text.len);
	inis_buf_free(&c->env_text);
	free(c->argv);
	free(c->env);
	memset(c, 0, sizeof(*c));
}

void command_put(const struct command *c, struct inis_exec *m)
{
	m->argv = c->argv;
	m->argc = c->argc;
	m->env = c->env;
	m->envc = c->envc;
	m->cwd = str(c->cwd ? c->cwd : "");
}
