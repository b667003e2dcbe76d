/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - find and grep: arguments, output, exit code.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/search/search.h"
#include "wire/agent_proto.h"

#define FLUSH_AT 32768

/* ---- arguments ---- */

static struct inis_str number(char text[16], uint32_t value)
{
	int n = snprintf(text, 16, "%u", value);

	return (struct inis_str){text, (size_t)n};
}

void search_args(struct search_args *a, const char *program, const char *verb, const struct inis_search *m)
{
	const struct inis_str argv[SEARCH_ARGC] = {
		{program, strlen(program)},
		{verb, strlen(verb)},
		m->path,
		m->pattern,
		number(a->numbers[0], m->flags),
		number(a->numbers[1], m->max_results),
		number(a->numbers[2], m->budget_ms),
		number(a->numbers[3], m->max_depth),
		number(a->numbers[4], m->context),
		m->file_pattern,
		m->exclude_dirs,
	};

	memcpy(a->argv, argv, sizeof(argv));
}

static struct inis_str text(const char *s)
{
	return (struct inis_str){s, strlen(s)};
}

static uint32_t value(const char *s)
{
	return (uint32_t)strtoul(s, NULL, 10);
}

static void parse(struct search *s, char **argv)
{
	s->path = argv[2];
	s->pattern = argv[3];
	s->file_pattern = argv[9];
	s->exclude_dirs = argv[10];
	s->want = (struct inis_search){
		.path = text(s->path),
		.pattern = text(s->pattern),
		.flags = value(argv[4]),
		.max_results = value(argv[5]),
		.budget_ms = value(argv[6]),
		.max_depth = value(argv[7]),
		.context = value(argv[8]),
	};
	/* The program may be called by anybody. */
	if (s->want.context > INIS_SEARCH_CONTEXT_MAX)
		s->want.context = INIS_SEARCH_CONTEXT_MAX;
	s->deadline = inis_deadline_in(s->want.budget_ms);
}

/* ---- output ---- */

static bool write_all(int fd, const uint8_t *data, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, data, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		data += done;
		n -= (size_t)done;
	}
	return true;
}

static void flush(struct search *s)
{
	if (s->out.failed || !write_all(STDOUT_FILENO, s->out.data, s->out.len))
		s->cut = s->over = true;
	s->written += s->out.len;
	inis_buf_reset(&s->out);
}

void search_emit(struct search *s, const struct inis_record *r)
{
	inis_record_pack(&s->out, r);
	if (s->out.failed || s->out.len >= FLUSH_AT)
		flush(s);
	if (s->written > INIS_SEARCH_OUTPUT_MAX)
		s->cut = s->over = true;
}

bool search_over(struct search *s)
{
	if (!s->over && inis_now_ms() >= s->deadline)
		s->cut = s->over = true;
	return s->over;
}

bool search_hidden(const struct search *s, const char *name)
{
	return (s->want.flags & INIS_SEARCH_NO_HIDDEN) && name[0] == '.';
}

void search_root(struct inis_buf *out, const char *path)
{
	inis_buf_puts(out, AGENT_WORKSPACE);
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n > 0 && !(n == 1 && path[0] == '.')) {
			inis_buf_append(out, "/", 1);
			inis_buf_append(out, path, n);
		}
		path += n + (path[n] == '/');
	}
}

static int fail(const struct inis_error *err)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_wire_error_pack(&b, err);
	if (!b.failed)
		write_all(STDERR_FILENO, b.data, b.len);
	return SEARCH_FAILED;
}

int search_main(int argc, char **argv)
{
	struct search s = {.out = INIS_BUF_INIT(0)};
	struct inis_error err = INIS_ERROR_INIT;
	int rc;

	if (argc != SEARCH_ARGC) {
		inis_fail(&err, INIS_INTERNAL, "wrong arguments");
		return fail(&err);
	}
	parse(&s, argv);
	rc = strcmp(argv[1], "grep") == 0 ? search_grep(&s, &err) : search_find(&s, &err);
	if (rc == 0)
		flush(&s);
	inis_buf_free(&s.out);
	if (rc < 0)
		return fail(&err);
	return s.cut ? SEARCH_CUT : SEARCH_WHOLE;
}
