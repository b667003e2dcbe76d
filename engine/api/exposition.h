/* SPDX-License-Identifier: Apache-2.0
 *
 * exposition.h - the text format of Prometheus, version 0.0.4.
 *
 * A family is HELP and TYPE and then all of its samples, together; its name is said once. What cannot be written for
 * want of memory shows in inis_buf_failed().
 */
#ifndef INIS_API_EXPOSITION_H
#define INIS_API_EXPOSITION_H

#include "base/buf.h"
#include "base/metrics.h"

#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct exposition {
	struct inis_buf *to;
	const char *name; /* of the family that is being written */
};

/* Names and values in turns, ended by NULL; values may be any UTF-8. NULL: no labels. */
typedef const char *const *expo_labels;

/* type: "counter", "gauge" or "histogram". name must live as long as the family is written. */
void expo_family(struct exposition *x, const char *name, const char *type, const char *help);
void expo_sample(struct exposition *x, expo_labels labels, uint64_t value);
/* A time in seconds. */
void expo_seconds(struct exposition *x, expo_labels labels, uint64_t us);
void expo_histogram(struct exposition *x, expo_labels labels, const struct inis_histogram *h);

/* Families of one sample without labels. */
void expo_counter(struct exposition *x, const char *name, const char *help, uint64_t value);
void expo_gauge(struct exposition *x, const char *name, const char *help, uint64_t value);

#endif
