/* SPDX-License-Identifier: Apache-2.0
 *
 * exposition.c - the text format of Prometheus.
 */
#include "api/exposition.h"

#include <inttypes.h>
#include <stdio.h>

/* In HELP a quote needs no escape, and must have none. */
static void escaped(struct inis_buf *b, const char *text, bool quoted)
{
	for (; *text; text++) {
		if (*text == '\\')
			inis_buf_puts(b, "\\\\");
		else if (*text == '\n')
			inis_buf_puts(b, "\\n");
		else if (*text == '"' && quoted)
			inis_buf_puts(b, "\\\"");
		else
			inis_buf_append(b, text, 1);
	}
}

void expo_family(struct exposition *x, const char *name, const char *type, const char *help)
{
	x->name = name;
	inis_buf_printf(x->to, "# HELP %s ", name);
	escaped(x->to, help, false);
	inis_buf_printf(x->to, "\n# TYPE %s %s\n", name, type);
}

/* Everything of a line but its value; le: the bucket's own label, or NULL. */
static void begin(struct exposition *x, const char *suffix, expo_labels labels, const char *le)
{
	const char *before = "{";

	inis_buf_puts(x->to, x->name);
	inis_buf_puts(x->to, suffix);
	for (; labels && labels[0]; labels += 2) {
		inis_buf_printf(x->to, "%s%s=\"", before, labels[0]);
		escaped(x->to, labels[1], true);
		inis_buf_puts(x->to, "\"");
		before = ",";
	}
	if (le) {
		inis_buf_printf(x->to, "%sle=\"%s\"", before, le);
		before = ",";
	}
	inis_buf_puts(x->to, *before == ',' ? "} " : " ");
}

static void end(struct exposition *x, uint64_t value)
{
	inis_buf_printf(x->to, "%" PRIu64 "\n", value);
}

static void end_seconds(struct exposition *x, uint64_t us)
{
	inis_buf_printf(x->to, "%" PRIu64 ".%06" PRIu64 "\n", us / 1000000, us % 1000000);
}

void expo_sample(struct exposition *x, expo_labels labels, uint64_t value)
{
	begin(x, "", labels, NULL);
	end(x, value);
}

void expo_seconds(struct exposition *x, expo_labels labels, uint64_t us)
{
	begin(x, "", labels, NULL);
	end_seconds(x, us);
}

/* The count is the sum of what was read of the buckets, so that it agrees with the last of them. */
void expo_histogram(struct exposition *x, expo_labels labels, const struct inis_histogram *h)
{
	uint64_t count = 0;
	char le[32];

	for (size_t i = 0; i < INIS_BUCKETS; i++) {
		count += inis_counted(&h->buckets[i]);
		snprintf(le, sizeof(le), "%g", (double)INIS_BUCKET_US[i] / 1e6);
		begin(x, "_bucket", labels, le);
		end(x, count);
	}
	count += inis_counted(&h->buckets[INIS_BUCKETS]);
	begin(x, "_bucket", labels, "+Inf");
	end(x, count);
	begin(x, "_sum", labels, NULL);
	end_seconds(x, inis_counted(&h->sum_us));
	begin(x, "_count", labels, NULL);
	end(x, count);
}

void expo_counter(struct exposition *x, const char *name, const char *help, uint64_t value)
{
	expo_family(x, name, "counter", help);
	expo_sample(x, NULL, value);
}

void expo_gauge(struct exposition *x, const char *name, const char *help, uint64_t value)
{
	expo_family(x, name, "gauge", help);
	expo_sample(x, NULL, value);
}
