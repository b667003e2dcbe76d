/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor.h - `inisd doctor`: the checks of engine/doctor on this server's settings, and a whole session made and ended.
 */
#ifndef INIS_DAEMON_DOCTOR_H
#define INIS_DAEMON_DOCTOR_H

#include <stdio.h>

#include "daemon/config.h"
#include "doctor/doctor.h"

/* `inisd doctor [OPTIONS]`; the exit status: 0 sessions can be made, 1 they cannot, 2 the options are wrong. */
int inisd_doctor(int argc, char *const *argv);

/* For a server that could not start for this reason: says on `to` what of the machine stands in the way. */
void inisd_doctor_explain(const struct inisd_config *config, const struct inis_error *reason, FILE *to);

/* A unit as the broker makes it: created, frozen, thawed, destroyed. dir is an empty directory, by its absolute path. */
void inisd_doctor_unit(struct doctor_report *r, const struct doctor_subject *s, const struct inisd_config *config,
		       const char *dir);

void inisd_doctor_help(FILE *to);

#endif
