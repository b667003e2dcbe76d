/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c - the paths below a directory that match a pattern.
 *
 * A relative pattern is matched against what follows the directory in a path, an absolute one against all of it.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "agent/files/path.h"
#include "agent/list.h"
#include "agent/search/glob.h"
#include "agent/search/search.h"
#include "agent/search/tree.h"
#include "wire/agent_proto.h"

struct find {
	struct tree tree;
	struct search *search;
	struct glob_path glob;
	uint32_t found;
};

static void emit(struct find *f, const struct tree_entry *e)
{
	struct inis_record r = {.kind = INIS_RECORD_FOUND, .found = {.type = e->type}};
	struct stat st;

	r.found.path = (struct inis_str){e->path, strlen(e->path)};
	if (fstatat(e->dir, e->name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0) {
		r.found.mode = st.st_mode & 0777;
		r.found.size = (uint64_t)st.st_size;
		r.found.mtime_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
	}
	search_emit(f->search, &r);
	f->found++;
}

static uint64_t visit(struct tree *t, const struct tree_entry *e, uint64_t state)
{
	struct find *f = container_of(t, struct find, tree);
	struct search *s = f->search;
	uint64_t next = search_hidden(s, e->name) ? 0 : glob_path_step(&f->glob, state, e->name);

	if (next && glob_path_accepts(&f->glob, next)) {
		if (f->found == s->want.max_results) {
			s->cut = s->over = true;
			return 0;
		}
		emit(f, e);
	}
	return s->want.max_depth && e->depth >= s->want.max_depth ? 0 : glob_path_below(&f->glob, next);
}

static bool stop(struct tree *t)
{
	return search_over(container_of(t, struct find, tree)->search);
}

/* What follows the workspace's own path in an absolute pattern; NULL: it is not below it. */
static const char *below_workspace(const char *pattern)
{
	size_t n = strlen(AGENT_WORKSPACE);

	if (strncmp(pattern, AGENT_WORKSPACE, n) != 0 || (pattern[n] != '/' && pattern[n] != '\0'))
		return NULL;
	return pattern + n;
}

/* The state after the components of `path`. */
static uint64_t step_through(const struct glob_path *g, uint64_t state, char *path)
{
	char *next = path;

	while (next && state) {
		const char *name = strsep(&next, "/");

		if (*name && strcmp(name, ".") != 0)
			state = glob_path_step(g, state, name);
	}
	return state;
}

/* Where the pattern stands when the walk begins at path (relative to the workspace). */
static int begin(struct find *f, char *path, uint64_t *state, struct inis_error *err)
{
	const char *pattern = f->search->pattern;
	bool absolute = pattern[0] == '/';

	if (absolute)
		pattern = below_workspace(pattern);
	if (!pattern)
		return inis_fail(err, INIS_INVALID_PATH, "field `pattern`: path must be under /workspace");
	if (glob_path_init(&f->glob, pattern, err) < 0)
		return -1;
	*state = glob_path_begin(&f->glob);
	if (absolute)
		*state = step_through(&f->glob, *state, path);
	return 0;
}

static int walk(struct find *f, struct inis_error *err)
{
	struct search *s = f->search;
	char path[FILE_PATH_MAX];
	uint64_t state = 0;
	int dir;

	if (path_parse(s->want.path, path, err) < 0)
		return -1;
	search_root(&f->tree.path, path);
	if (begin(f, path, &state, err) < 0)
		return -1;
	dir = path_open(s->want.path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, err);
	if (dir < 0)
		return -1;
	if (glob_path_accepts(&f->glob, state))
		emit(f, &(struct tree_entry){.dir = dir,
					     .name = "",
					     .path = inis_buf_cstr(&f->tree.path),
					     .type = INIS_FILE_DIRECTORY});
	tree_walk(&f->tree, dir, glob_path_below(&f->glob, state));
	s->cut |= f->tree.cut;
	return 0;
}

int search_find(struct search *s, struct inis_error *err)
{
	struct find f = {.tree = {.visit = visit, .stop = stop, .path = INIS_BUF_INIT(0)}, .search = s};
	int rc = walk(&f, err);

	glob_path_free(&f.glob);
	inis_buf_free(&f.tree.path);
	return rc;
}
