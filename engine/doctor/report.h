/* SPDX-License-Identifier: Apache-2.0
 *
 * report.h - what the doctor found, and how it is said.
 */
#ifndef INIS_DOCTOR_REPORT_H
#define INIS_DOCTOR_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "doctor/facts.h"

#define DOCTOR_CHECKS_MAX 32

enum doctor_status {
	DOCTOR_OK,
	DOCTOR_BLOCKED, /* no session can be made */
	DOCTOR_DEGRADED, /* sessions can be made, and say what they lack */
	DOCTOR_UNUSED, /* nothing uses it yet */
};

/* What a step of a create needs; decides which knobs come into question when it fails. */
enum doctor_step {
	DOCTOR_STEP_KERNEL,
	DOCTOR_STEP_RIGHTS,
	DOCTOR_STEP_NAMESPACE, /* doctor_check.ns says which */
	DOCTOR_STEP_PROC,
	DOCTOR_STEP_MOUNT,
	DOCTOR_STEP_NETWORK,
	DOCTOR_STEP_CGROUP,
	DOCTOR_STEP_IDMAP,
	DOCTOR_STEP_OVERLAY,
	DOCTOR_STEP_DISK,
	DOCTOR_STEP_SECCOMP,
	DOCTOR_STEP_FILES, /* programs, the state directory, the address */
	DOCTOR_STEP_UNIT, /* all of it at once */
};

struct doctor_check {
	const char *name; /* static */
	enum doctor_step step;
	enum doctor_namespace ns; /* of DOCTOR_STEP_NAMESPACE */
	enum doctor_status status;
	char detail[320]; /* what was seen */
	char knob[160]; /* what of the machine stands in the way; "" when that is not known */
	char advice[320]; /* what to do; "" when there is nothing to be done */
};

struct doctor_report {
	struct doctor_check checks[DOCTOR_CHECKS_MAX];
	unsigned count;
};

/* A new line of the report, OK until somebody says otherwise. */
struct doctor_check *doctor_add(struct doctor_report *r, const char *name, enum doctor_step step);

/* Fills knob and advice of a check that failed with this error, from what the machine says about itself. */
void doctor_blame(struct doctor_check *c, const struct doctor_facts *f, int sys_errno);

/* Whether any check is blocked. */
bool doctor_blocked(const struct doctor_report *r);

void doctor_print_text(const struct doctor_report *r, FILE *to);
/* Only what is blocked, each line with this prefix: how a server says why it does not start. */
void doctor_print_blocked(const struct doctor_report *r, const char *prefix, FILE *to);
/* {"ok":…,"version":…,"checks":[{"name","status","detail","knob","advice"}]} */
int doctor_print_json(const struct doctor_report *r, FILE *to, struct inis_error *err);

#endif
