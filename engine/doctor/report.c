/* SPDX-License-Identifier: Apache-2.0
 *
 * report.c - the report as text and as JSON.
 */
#include "doctor/report.h"

#include <jansson.h>
#include <stdlib.h>

static const char *const STATUS[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_BLOCKED] = "blocked",
	[DOCTOR_DEGRADED] = "degraded",
	[DOCTOR_UNUSED] = "not used yet",
};

struct doctor_check *doctor_add(struct doctor_report *r, const char *name, enum doctor_step step)
{
	struct doctor_check *c = &r->checks[r->count];

	/* The last line is written over rather than memory: the checks are a fixed list. */
	if (r->count + 1 < DOCTOR_CHECKS_MAX)
		r->count++;
	*c = (struct doctor_check){.name = name, .step = step};
	return c;
}

bool doctor_blocked(const struct doctor_report *r)
{
	for (unsigned i = 0; i < r->count; i++) {
		if (r->checks[i].status == DOCTOR_BLOCKED)
			return true;
	}
	return false;
}

static void print_more(const struct doctor_check *c, const char *indent, FILE *to)
{
	if (c->knob[0])
		fprintf(to, "%swhat blocks it: %s\n", indent, c->knob);
	if (c->advice[0])
		fprintf(to, "%swhat to do: %s\n", indent, c->advice);
}

void doctor_print_text(const struct doctor_report *r, FILE *to)
{
	for (unsigned i = 0; i < r->count; i++) {
		const struct doctor_check *c = &r->checks[i];

		fprintf(to, "%-12s  %-20s  %s\n", STATUS[c->status], c->name, c->detail);
		if (c->status == DOCTOR_BLOCKED || c->status == DOCTOR_DEGRADED)
			print_more(c, "              ", to);
	}
	fputs(doctor_blocked(r) ? "This machine cannot run sessions.\n" : "This machine can run sessions.\n", to);
}

void doctor_print_blocked(const struct doctor_report *r, const char *prefix, FILE *to)
{
	for (unsigned i = 0; i < r->count; i++) {
		const struct doctor_check *c = &r->checks[i];

		if (c->status != DOCTOR_BLOCKED)
			continue;
		fprintf(to, "%s%s: %s\n", prefix, c->name, c->detail);
		print_more(c, prefix, to);
	}
}

int doctor_print_json(const struct doctor_report *r, FILE *to, struct inis_error *err)
{
	json_t *checks = json_array();
	json_t *root;
	char *text;

	for (unsigned i = 0; i < r->count; i++) {
		const struct doctor_check *c = &r->checks[i];

		json_array_append_new(checks, json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", c->name, "status",
							STATUS[c->status], "detail", c->detail, "knob", c->knob,
							"advice", c->advice));
	}
	root = json_pack("{s:b, s:s, s:o}", "ok", !doctor_blocked(r), "version", INIS_VERSION, "checks", checks);
	text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	if (!text)
		return inis_fail(err, INIS_UNAVAILABLE, "no memory for the report");
	fprintf(to, "%s\n", text);
	free(text);
	return 0;
}
