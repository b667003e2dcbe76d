/* SPDX-License-Identifier: Apache-2.0
 *
 * glob.c - shell patterns: of one name, and of paths.
 */
#include "agent/search/glob.h"

#include <stdlib.h>
#include <string.h>

/* ---- one name ---- */

/* The character at s, of the bytes that are UTF-8, else the byte above all characters; *s moves behind it. */
static uint32_t next_char(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	unsigned more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : 1;
	uint32_t c;

	if (p[0] < 0xc2 || p[0] > 0xf4) {
		(*s)++;
		return p[0] < 0x80 ? p[0] : 0x110000u + p[0];
	}
	c = p[0] & (0x3fu >> more);
	for (unsigned i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			(*s)++;
			return 0x110000u + p[0];
		}
		c = c << 6 | (p[i] & 0x3f);
	}
	*s += more + 1;
	return c;
}

static uint32_t set_char(const char **p)
{
	if (**p == '\\' && (*p)[1])
		(*p)++;
	return next_char(p);
}

/* Behind the set that begins at p[0] == '[', or NULL when it does not end. *in: whether c is in it. */
static const char *match_set(const char *p, uint32_t c, bool *in)
{
	bool negated = p[1] == '!' || p[1] == '^';
	bool first = true;

	p += negated ? 2 : 1;
	*in = false;
	while (*p && (*p != ']' || first)) {
		uint32_t low = set_char(&p), high = low;

		if (p[0] == '-' && p[1] && p[1] != ']') {
			p++;
			high = set_char(&p);
		}
		*in |= low <= c && c <= high;
		first = false;
	}
	*in ^= negated;
	return *p ? p + 1 : NULL;
}

const char *glob_check(const char *pattern)
{
	bool in;

	while (*pattern) {
		if (*pattern == '[') {
			pattern = match_set(pattern, 0, &in);
			if (!pattern)
				return "a `[` without its `]`";
		} else if (*pattern == '\\' && !pattern[1]) {
			return "a `\\` at the end";
		} else {
			pattern += *pattern == '\\' ? 2 : 1;
		}
	}
	return NULL;
}

/* One item of the pattern other than `*` against the character at *name; moves both on when it fits. */
static bool match_one(const char **pattern, const char **name)
{
	const char *p = *pattern, *n = *name;
	uint32_t c;
	bool fits;

	if (!*n || !*p)
		return false;
	c = next_char(&n);
	if (*p == '?') {
		p++;
		fits = true;
	} else if (*p == '[') {
		p = match_set(p, c, &fits);
	} else {
		fits = set_char(&p) == c;
	}
	if (!fits || !p)
		return false;
	*pattern = p;
	*name = n;
	return true;
}

bool glob_match(const char *pattern, const char *name)
{
	const char *star = NULL, *tried = NULL;

	/* Only the last star has to be tried again: whatever an earlier one could take, it can too. */
	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			tried = name;
		} else if (!*pattern && !*name) {
			return true;
		} else if (!match_one(&pattern, &name)) {
			if (!star || !*tried)
				return false;
			next_char(&tried);
			name = tried;
			pattern = star;
		}
	}
}

/* ---- paths ---- */

static bool any_depth(const struct glob_path *g, unsigned i)
{
	return strcmp(g->components[i], "**") == 0;
}

static int add_component(struct glob_path *g, const char *component, struct inis_error *err)
{
	const char *wrong = glob_check(component);

	if (wrong)
		return inis_fail_field(err, "pattern", "invalid pattern: %s", wrong);
	if (strcmp(component, "..") == 0)
		return inis_fail_field(err, "pattern", "invalid pattern: `..` is not allowed");
	if (*component == '\0' || strcmp(component, ".") == 0)
		return 0;
	if (g->n == GLOB_COMPONENTS_MAX)
		return inis_fail_field(err, "pattern", "invalid pattern: more than %d components", GLOB_COMPONENTS_MAX);
	g->components[g->n++] = component;
	return 0;
}

int glob_path_init(struct glob_path *g, const char *pattern, struct inis_error *err)
{
	char *next;

	*g = (struct glob_path){.text = strdup(pattern)};
	if (!g->text)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	next = g->text;
	while (next) {
		char *component = strsep(&next, "/");

		if (add_component(g, component, err) < 0) {
			glob_path_free(g);
			return -1;
		}
	}
	return 0;
}

void glob_path_free(struct glob_path *g)
{
	free(g->text);
	*g = (struct glob_path){0};
}

static uint64_t bit(unsigned i)
{
	return (uint64_t)1 << i;
}

/* `**` before other components may also stand for nothing. */
static uint64_t skip_none(const struct glob_path *g, uint64_t state)
{
	for (unsigned i = 0; i + 1 < g->n; i++) {
		if ((state & bit(i)) && any_depth(g, i))
			state |= bit(i + 1);
	}
	return state;
}

uint64_t glob_path_begin(const struct glob_path *g)
{
	return skip_none(g, bit(0));
}

uint64_t glob_path_step(const struct glob_path *g, uint64_t state, const char *name)
{
	uint64_t next = 0;

	for (unsigned i = 0; i < g->n; i++) {
		if (!(state & bit(i)))
			continue;
		if (any_depth(g, i))
			next |= bit(i) | (i + 1 == g->n ? bit(g->n) : 0);
		else if (glob_match(g->components[i], name))
			next |= bit(i + 1);
	}
	return skip_none(g, next);
}

bool glob_path_accepts(const struct glob_path *g, uint64_t state)
{
	return state & bit(g->n);
}

uint64_t glob_path_below(const struct glob_path *g, uint64_t state)
{
	return state & (bit(g->n) - 1);
}
