/* SPDX-License-Identifier: Apache-2.0
 *
 * command.c - what a request to run something means.
 */
#include "agent/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/archive/archive.h"

#define BASE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define PATHS_MAX 128

static void strings_free(struct strings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct strings){0};
}

static int no_memory(struct inis_error *err)
{
	return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
}

static int reserve(struct strings *s, size_t capacity, struct inis_error *err)
{
	s->v = calloc(capacity + 1, sizeof(*s->v));
	return s->v ? 0 : no_memory(err);
}

/* Takes text over; the caller reserved the place. */
static int add(struct strings *s, char *text, struct inis_error *err)
{
	if (!text)
		return no_memory(err);
	s->v[s->n++] = text;
	return 0;
}

__attribute__((format(printf, 1, 2))) static char *format(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return text;
}

/* A later definition of a variable replaces the earlier one. */
static int set_env(struct strings *env, char *text, struct inis_error *err)
{
	size_t name = text ? strcspn(text, "=") + 1 : 0;

	for (size_t i = 0; text && i < env->n; i++) {
		if (strncmp(env->v[i], text, name) == 0) {
			free(env->v[i]);
			env->v[i] = text;
			return 0;
		}
	}
	return add(env, text, err);
}

static int build_env(struct command *c, const struct inis_exec *m, const struct guest_user *user,
		     struct inis_error *err)
{
	char *base[] = {format("PATH=" BASE_PATH),    format("HOME=%s", user->home),   format("USER=" USER_NAME),
			format("LOGNAME=" USER_NAME), format("SHELL=%s", user->shell), format("LANG=C.UTF-8"),
			format("PWD=%s", c->cwd)};
	const size_t n_base = sizeof(base) / sizeof(base[0]);
	int rc = reserve(&c->env, n_base + m->envc, err);

	for (size_t i = 0; i < n_base; i++) {
		if (rc == 0)
			rc = add(&c->env, base[i], err);
		else
			free(base[i]);
	}
	for (uint32_t i = 0; rc == 0 && i < m->envc; i++) {
		const char *equals = memchr(m->env[i].s, '=', m->env[i].len);

		if (!equals || equals == m->env[i].s)
			return inis_fail_field(err, "env", "must be NAME=value");
		rc = set_env(&c->env, inis_str_dup(m->env[i]), err);
	}
	return rc;
}

static int build_argv(struct command *c, const struct inis_exec *m, struct inis_error *err)
{
	if (reserve(&c->argv, m->argc, err) < 0)
		return -1;
	for (uint32_t i = 0; i < m->argc; i++) {
		if (add(&c->argv, inis_str_dup(m->argv[i]), err) < 0)
			return -1;
	}
	return 0;
}

static const char *env_value(const struct strings *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->n; i++) {
		if (strncmp(env->v[i], name, n) == 0 && env->v[i][n] == '=')
			return env->v[i] + n + 1;
	}
	return "";
}

static int build_paths(struct command *c, struct inis_error *err)
{
	const char *program = c->argv.v[0];
	const char *dir = env_value(&c->env, "PATH");

	if (reserve(&c->paths, PATHS_MAX, err) < 0)
		return -1;
	if (program[0] == '\0')
		return 0;
	if (strcmp(program, ARCHIVE_PROGRAM) == 0)
		program = "/proc/self/exe";
	if (strchr(program, '/'))
		return add(&c->paths, strdup(program), err);
	while (c->paths.n < PATHS_MAX) {
		int n = (int)strcspn(dir, ":");

		/* An empty entry means the working directory, as in every shell. */
		if (add(&c->paths, n ? format("%.*s/%s", n, dir, program) : format("./%s", program), err) < 0)
			return -1;
		if (dir[n] == '\0')
			break;
		dir += n + 1;
	}
	return 0;
}

static int build_cwd(struct command *c, const struct inis_exec *m, struct inis_error *err)
{
	int n = (int)m->cwd.len;

	if (n == 0)
		c->cwd = strdup(AGENT_WORKSPACE);
	else if (m->cwd.s[0] == '/')
		c->cwd = inis_str_dup(m->cwd);
	else
		c->cwd = format(AGENT_WORKSPACE "/%.*s", n, m->cwd.s);
	return c->cwd ? 0 : no_memory(err);
}

int command_build(struct command *c, const struct inis_exec *m, const struct guest_user *user, struct inis_error *err)
{
	*c = (struct command){0};
	if (build_cwd(c, m, err) == 0 && build_argv(c, m, err) == 0 && build_env(c, m, user, err) == 0 &&
	    build_paths(c, err) == 0)
		return 0;
	command_free(c);
	return -1;
}

void command_free(struct command *c)
{
	strings_free(&c->argv);
	strings_free(&c->env);
	strings_free(&c->paths);
	free(c->cwd);
	c->cwd = NULL;
}

uint32_t command_remember(struct inis_buf *b, const struct inis_exec *m, size_t max)
{
	uint32_t argc = 0;

	for (; argc < m->argc && max > 0; argc++) {
		size_t n = m->argv[argc].len < max ? m->argv[argc].len : max;

		inis_pack_bytes(b, m->argv[argc].s, n);
		if (inis_buf_failed(b))
			break;
		max -= n;
	}
	return argc;
}
