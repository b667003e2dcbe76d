/* SPDX-License-Identifier: Apache-2.0
 *
 * router.c - tree of path segments.
 *
 * Names of captures belong to a route, not to a node: "/a/{id}" and
 * "/a/{name}/b" share one.
 */
#include "http/router.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct target {
	const struct http_route *route;
	const char *names[HTTP_SEGMENTS_MAX];
	struct target *next;
};

struct node {
	char *literal; /* NULL: capture */
	struct node *children; /* literals, in order of appearance */
	struct node *capture;
	struct node *next;
	struct target *targets;
	char allow[64];
};

struct http_router {
	struct node root;
};

static void free_node(struct node *n)
{
	while (n->children) {
		struct node *child = n->children;

		n->children = child->next;
		free_node(child);
		free(child);
	}
	if (n->capture) {
		free_node(n->capture);
		free(n->capture);
	}
	while (n->targets) {
		struct target *t = n->targets;

		n->targets = t->next;
		for (int i = 0; i < HTTP_SEGMENTS_MAX; i++)
			free((char *)t->names[i]);
		free(t);
	}
	free(n->literal);
}

void http_router_free(struct http_router *r)
{
	if (!r)
		return;
	free_node(&r->root);
	free(r);
}

static const struct node *find_literal(const struct node *n, const char *text, size_t len)
{
	for (const struct node *child = n->children; child; child = child->next) {
		if (strncmp(child->literal, text, len) == 0 && child->literal[len] == '\0')
			return child;
	}
	return NULL;
}

static struct node *add_literal(struct node *n, const char *text, size_t len)
{
	struct node *child = (struct node *)find_literal(n, text, len);
	struct node **tail = &n->children;

	if (child)
		return child;
	child = calloc(1, sizeof(*child));
	if (!child)
		return NULL;
	child->literal = strndup(text, len);
	if (!child->literal) {
		free(child);
		return NULL;
	}
	while (*tail)
		tail = &(*tail)->next;
	*tail = child;
	return child;
}

static struct node *add_capture(struct node *n)
{
	if (!n->capture)
		n->capture = calloc(1, sizeof(*n->capture));
	return n->capture;
}

/* Walks the pattern, making nodes as needed; names of captures go to t. */
static struct node *add_path(struct node *n, const char *pattern, struct target *t, struct inis_error *err)
{
	const char *at = pattern;
	int depth = 0, captures = 0;

	while (*at == '/') {
		size_t len = strcspn(++at, "/");

		if (len == 0 || ++depth > HTTP_SEGMENTS_MAX)
			break;
		if (at[0] == '{' && at[len - 1] == '}' && len > 2) {
			t->names[captures] = strndup(at + 1, len - 2);
			n = t->names[captures++] ? add_capture(n) : NULL;
		} else {
			n = add_literal(n, at, len);
		}
		if (!n) {
			inis_fail(err, INIS_UNAVAILABLE, "out of memory");
			return NULL;
		}
		at += len;
	}
	if (*at != '\0') {
		inis_fail(err, INIS_INTERNAL, "route pattern `%s` is malformed", pattern);
		return NULL;
	}
	return n;
}

static int add_target(struct node *n, struct target *t, struct inis_error *err)
{
	size_t used = strlen(n->allow);

	for (const struct target *other = n->targets; other; other = other->next) {
		if (strcmp(other->route->method, t->route->method) == 0)
			return inis_fail(err, INIS_INTERNAL, "route %s %s is there twice", t->route->method,
					 t->route->pattern);
	}
	if (used + strlen(t->route->method) + 3 > sizeof(n->allow))
		return inis_fail(err, INIS_INTERNAL, "too many methods for `%s`", t->route->pattern);
	snprintf(n->allow + used, sizeof(n->allow) - used, "%s%s", used ? ", " : "", t->route->method);
	t->next = n->targets;
	n->targets = t;
	return 0;
}

static int add_route(struct http_router *r, const struct http_route *route, struct inis_error *err)
{
	struct target *t = calloc(1, sizeof(*t));
	struct node *n;

	if (!t)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	t->route = route;
	n = add_path(&r->root, route->pattern, t, err);
	if (n && add_target(n, t, err) == 0)
		return 0;
	for (int i = 0; i < HTTP_SEGMENTS_MAX; i++)
		free((char *)t->names[i]);
	free(t);
	return -1;
}

struct http_router *http_router_new(const struct http_route *routes, size_t count, struct inis_error *err)
{
	struct http_router *r = calloc(1, sizeof(*r));

	if (!r) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		if (add_route(r, &routes[i], err) < 0) {
			http_router_free(r);
			return NULL;
		}
	}
	return r;
}

/* Depth is bounded by HTTP_SEGMENTS_MAX. `values` gathers what captures matched. */
static const struct node *walk(const struct node *n, const char *const *segments, int count, const char **values)
{
	const struct node *found = NULL, *child;

	if (count == 0)
		return n->targets ? n : NULL;
	if (segments[0][0] == '\0')
		return NULL;
	child = find_literal(n, segments[0], strlen(segments[0]));
	if (child)
		found = walk(child, segments + 1, count - 1, values);
	if (!found && n->capture) {
		values[0] = segments[0];
		found = walk(n->capture, segments + 1, count - 1, values + 1);
	}
	return found;
}

void http_router_find(const struct http_router *r, const char *method, const char *const *segments, int count,
		      struct http_match *match)
{
	const char *values[HTTP_SEGMENTS_MAX];
	const struct node *n = count <= HTTP_SEGMENTS_MAX ? walk(&r->root, segments, count, values) : NULL;

	match->route = NULL;
	match->allow = n ? n->allow : NULL;
	match->param_count = 0;
	for (const struct target *t = n ? n->targets : NULL; t; t = t->next) {
		if (strcmp(t->route->method, method) != 0)
			continue;
		match->route = t->route;
		for (int i = 0; i < HTTP_SEGMENTS_MAX && t->names[i]; i++)
			match->params[match->param_count++] = (struct http_pair){t->names[i], values[i]};
		return;
	}
}
