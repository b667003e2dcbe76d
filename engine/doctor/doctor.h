/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor.h - can this machine have sessions, and if not, what stands in the way?
 *
 * DOC: How it works
 *
 * Each step of a create is done with the code that the driver does it with, in a process of its own (probe.h), the
 * cheap and general ones first. A step that fails is looked up among what the machine says about itself (facts.h),
 * and the knob is named (blame.c). Nothing is changed that stays.
 */
#ifndef INIS_DOCTOR_DOCTOR_H
#define INIS_DOCTOR_DOCTOR_H

#include "doctor/probe.h"
#include "doctor/report.h"

struct doctor_subject {
	struct doctor_facts facts;
	uint32_t uid_base; /* of the ranges that sessions get */
	const char *
		scratch; /* an empty directory on the file system of the state directory; NULL: what needs one is left out */
};

/* What the kernel must do: namespaces, mounts, cgroups, layers, filters. */
void doctor_check_machine(struct doctor_report *r, const struct doctor_subject *s);

/* Parts of it. */
void doctor_check_cgroups(struct doctor_report *r, const struct doctor_subject *s);
void doctor_check_layers(struct doctor_report *r, const struct doctor_subject *s);

/* What later versions will want. */
void doctor_check_later(struct doctor_report *r);

/* One check: fn in a child; what fails is blamed. detail is what is said when it works. */
struct doctor_check *doctor_try(struct doctor_report *r, const struct doctor_subject *s, const char *name,
				enum doctor_step step, doctor_probe fn, void *ctx, const char *detail);

/* A check that failed with this error. */
void doctor_failed(struct doctor_check *c, const struct doctor_subject *s, const struct inis_error *err);

#endif
