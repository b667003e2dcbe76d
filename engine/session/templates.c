/* SPDX-License-Identifier: Apache-2.0
 *
 * templates.c - what sessions can start from, as the broker last told.
 *
 * The broker says when it has become something else; then all is asked anew, one question at a time. Its answer to
 * the first question comes before its list of units, so it is known before anything is served.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "session/registry_private.h"

static void drop(struct template_rows *t)
{
	free(t->rows);
	*t = (struct template_rows){0};
}

static int append(struct template_rows *t, const struct inis_broker_template *row)
{
	struct inis_broker_template *more = reallocarray(t->rows, t->count + 1, sizeof(*more));

	if (!more)
		return -1;
	t->rows = more;
	t->rows[t->count++] = *row;
	return 0;
}

static void end(struct registry *r, bool complete)
{
	bool again = r->ask_again;

	if (complete) {
		drop(&r->templates);
		r->templates = r->coming;
		r->coming = (struct template_rows){0};
	} else {
		drop(&r->coming);
	}
	r->asking = r->ask_again = false;
	if (again)
		registry_ask_templates(r);
}

static void on_told(void *ctx, const struct inis_broker_msg *reply, int *fd, const struct inis_error *err)
{
	struct registry *r = ctx;

	(void)fd;
	if (!r->asking)
		return;
	if (err)
		end(r, false);
	else if (!(reply->flags & INIS_B_MORE))
		end(r, true);
	else if (append(&r->coming, &reply->u.template) < 0)
		/* A row less is an error of this moment; the next question may have more luck. */
		inis_log(INIS_LOG_ERROR, "a template is left out", "reason", "out of memory", NULL);
}

void registry_ask_templates(struct registry *r)
{
	struct inis_broker_msg m;

	if (r->asking) {
		r->ask_again = true;
		return;
	}
	inis_broker_msg_init(&m, INIS_B_TEMPLATES, 0);
	r->asking = broker_send(r->broker, &m, on_told, r, NULL) == 0;
}

void registry_free_templates(struct registry *r)
{
	r->asking = false;
	drop(&r->templates);
	drop(&r->coming);
}

const struct inis_broker_template *registry_templates(const struct registry *r, size_t *count)
{
	*count = r->templates.count;
	return r->templates.rows;
}

int registry_check_template(const struct registry *r, const char *ref, struct inis_error *err)
{
	const char *at = strchr(ref, '@');
	size_t length = at ? (size_t)(at - ref) : strlen(ref);
	bool named = false;

	for (size_t i = 0; i < r->templates.count; i++) {
		const struct inis_broker_template *t = &r->templates.rows[i];

		if (strlen(t->name) != length || strncmp(t->name, ref, length) != 0)
			continue;
		if (!at || strcmp(t->version, at + 1) == 0)
			return 0;
		named = true;
	}
	if (named)
		return inis_fail(err, INIS_TEMPLATE_VERSION_UNAVAILABLE, "template \"%s\" is not on this server", ref);
	return inis_fail(err, INIS_NOT_FOUND, "template \"%s\" does not exist", ref);
}
