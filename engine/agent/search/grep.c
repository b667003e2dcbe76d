/* SPDX-License-Identifier: Apache-2.0
 *
 * grep.c - the lines of files below a directory, or of one file, that match a regular expression.
 *
 * Regular files only, never through a link, and only text: a file with a NUL in it is none. A file is held in memory
 * while it is searched; one that is too large for that is left out, and the answer is truncated.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/failure.h"
#include "agent/files/path.h"
#include "agent/list.h"
#include "agent/search/glob.h"
#include "agent/search/regex.h"
#include "agent/search/search.h"
#include "agent/search/tree.h"
#include "base/cleanup.h"
#include "wire/agent_proto.h"

#define FILE_MAX        ((size_t)4 * 1024 * 1024)
#define SNIFF           8192
#define LINES_PER_CLOCK 1024

struct grep {
	struct tree tree;
	struct search *search;
	struct regex *regex;
	uint32_t matched_files;
	uint64_t searched;
	char *content; /* FILE_MAX + 1 bytes */
};

/* A file in memory. */
struct text {
	const char *path;
	const char *start;
	const char *end;
};

/* ---- lines ---- */

/* Behind the line that begins at p, without its end. */
static const char *line_end(const struct text *t, const char *p)
{
	const char *end = memchr(p, '\n', (size_t)(t->end - p));

	return end ? end : t->end;
}

/* A carriage return before the line feed belongs to the line end. */
static struct inis_str line_at(const struct text *t, const char *p)
{
	size_t n = (size_t)(line_end(t, p) - p);

	if (n > 0 && p[n - 1] == '\r')
		n--;
	return (struct inis_str){p, n};
}

static const char *previous_line(const struct text *t, const char *p)
{
	const char *before;

	if (p == t->start)
		return NULL;
	before = memrchr(t->start, '\n', (size_t)(p - 1 - t->start));
	return before ? before + 1 : t->start;
}

static const char *next_line(const struct text *t, const char *p)
{
	p = line_end(t, p) + 1;
	return p < t->end ? p : NULL;
}

/* At most so many bytes are shown, and no part of a character at the cut. */
static struct inis_str shown(struct inis_str line)
{
	size_t n = INIS_SEARCH_LINE_MAX;

	if (line.len <= n)
		return line;
	while (n > INIS_SEARCH_LINE_MAX - 3 && (line.s[n] & 0xc0) == 0x80)
		n--;
	return (struct inis_str){line.s, n};
}

static void add_context(const struct text *t, const char *at, uint32_t lines, struct inis_match *m)
{
	const char *p = at;

	while (m->n_before < lines && (p = previous_line(t, p)))
		m->before[m->n_before++] = shown(line_at(t, p));
	for (uint8_t i = 0; i < m->n_before / 2; i++) {
		struct inis_str swap = m->before[i];

		m->before[i] = m->before[m->n_before - 1 - i];
		m->before[m->n_before - 1 - i] = swap;
	}
	p = at;
	while (m->n_after < lines && (p = next_line(t, p)))
		m->after[m->n_after++] = shown(line_at(t, p));
}

static void emit_match(struct grep *g, const struct text *t, const char *at, uint32_t number)
{
	struct inis_record r = {.kind = INIS_RECORD_MATCH, .match = {.line_number = number}};

	r.match.path = (struct inis_str){t->path, strlen(t->path)};
	r.match.line = shown(line_at(t, at));
	add_context(t, at, g->search->want.context, &r.match);
	search_emit(g->search, &r);
}

static void emit_searched(struct grep *g)
{
	search_emit(g->search, &(struct inis_record){.kind = INIS_RECORD_SEARCHED, .searched = g->searched});
}

/* ---- one file ---- */

/* Whether one more match of this file may be told. */
static bool may_tell(struct grep *g, uint32_t matches)
{
	struct search *s = g->search;

	if (matches == 0 && g->matched_files == s->want.max_results)
		s->cut = s->over = true;
	if (matches == INIS_SEARCH_FILE_MATCHES)
		s->cut = true;
	return !s->over && matches < INIS_SEARCH_FILE_MATCHES;
}

static void search_text(struct grep *g, const struct text *t)
{
	uint32_t matches = 0, number = 0;

	for (const char *p = t->start; p && p < t->end; p = next_line(t, p)) {
		struct inis_str line = line_at(t, p);
		int found;

		if (++number % LINES_PER_CLOCK == 0 && search_over(g->search))
			break;
		found = regex_match(g->regex, line.s, line.len);
		g->search->cut |= found < 0;
		if (found <= 0)
			continue;
		if (!may_tell(g, matches))
			break;
		emit_match(g, t, p, number);
		matches++;
	}
	if (matches > 0) {
		g->matched_files++;
		emit_searched(g);
	}
}

static bool is_binary(const char *data, size_t n)
{
	return memchr(data, '\0', n) != NULL;
}

/* The content, at most FILE_MAX bytes; -1: not one that is searched. */
static ssize_t read_text(struct grep *g, int fd)
{
	size_t got = 0, want = SNIFF;

	while (got <= FILE_MAX) {
		ssize_t n = read(fd, g->content + got, (want < FILE_MAX + 1 ? want : FILE_MAX + 1) - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || is_binary(g->content + got, (size_t)n))
			return -1;
		if (n == 0)
			return (ssize_t)got;
		got += (size_t)n;
		want = got + FILE_MAX;
	}
	g->search->cut = true;
	return -1;
}

static void search_file(struct grep *g, int fd, const char *path)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	n = read_text(g, fd);
	if (n < 0)
		return;
	g->searched++;
	search_text(g, &(struct text){path, g->content, g->content + n});
}

/* ---- the tree ---- */

static bool excluded(const struct search *s, const char *name)
{
	const char *list = s->exclude_dirs;
	size_t len = strlen(name);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && memcmp(list, name, n) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

static uint64_t visit(struct tree *t, const struct tree_entry *e, uint64_t state)
{
	struct grep *g = container_of(t, struct grep, tree);
	struct search *s = g->search;
	cleanup_close int fd = -1;

	if (search_hidden(s, e->name))
		return 0;
	if (e->type == INIS_FILE_DIRECTORY)
		return excluded(s, e->name) ? 0 : state;
	if (e->type != INIS_FILE_REGULAR || (*s->file_pattern && !glob_match(s->file_pattern, e->name)))
		return 0;
	fd = openat(e->dir, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		search_file(g, fd, e->path);
	return 0;
}

static bool stop(struct tree *t)
{
	return search_over(container_of(t, struct grep, tree)->search);
}

static int begin(struct grep *g, struct inis_error *err)
{
	const struct search *s = g->search;
	const char *wrong = glob_check(s->file_pattern);
	char path[FILE_PATH_MAX];
	struct stat st;
	int fd;

	if (wrong)
		return inis_fail_field(err, "file_pattern", "invalid pattern: %s", wrong);
	if (path_parse(s->want.path, path, err) < 0)
		return -1;
	search_root(&g->tree.path, path);
	fd = path_open(s->want.path, O_RDONLY | O_NONBLOCK | O_NOCTTY, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return file_fail(err, errno, s->want.path);
	}
	if (S_ISDIR(st.st_mode)) {
		tree_walk(&g->tree, fd, 1);
		g->search->cut |= g->tree.cut;
		return 0;
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return file_fail(err, ENXIO, s->want.path);
	}
	search_file(g, fd, inis_buf_cstr(&g->tree.path));
	close(fd);
	return 0;
}

int search_grep(struct search *s, struct inis_error *err)
{
	struct grep g = {.tree = {.visit = visit, .stop = stop, .path = INIS_BUF_INIT(0)}, .search = s};
	int rc = -1;

	g.regex = regex_compile(s->pattern, !(s->want.flags & INIS_SEARCH_CASE), err);
	g.content = g.regex ? malloc(FILE_MAX + 1) : NULL;
	if (g.content)
		rc = begin(&g, err);
	else if (g.regex)
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	if (rc == 0)
		emit_searched(&g);
	regex_free(g.regex);
	free(g.content);
	inis_buf_free(&g.tree.path);
	return rc;
}
