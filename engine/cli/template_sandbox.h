/* SPDX-License-Identifier: Apache-2.0
 *
 * template_sandbox.h - runs the steps of a template's build.
 *
 * A step is a shell script. Its output goes to a log. It ends with its caller: when that is interrupted, or dies. It runs
 * within the limits of its build; err says which it has met.
 */
#ifndef INIS_CLI_TEMPLATE_SANDBOX_H
#define INIS_CLI_TEMPLATE_SANDBOX_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/template_limits.h"

/* template/NAME.sh */
extern const char template_script_fetch[];
extern const char template_script_extract[];
extern const char template_script_configure[];

struct template_steps {
	int log; /* what steps print */
	int interrupts; /* signalfd: what is read there ends the build */
	const struct template_group *group;
	inis_ms deadline; /* INIS_NEVER: none */
};

/* Runs a script as the caller, with these arguments (NULL-terminated). */
int template_step_run(const struct template_steps *s, const char *script, const char *const *args,
		      struct inis_error *err);

/*
 * Runs a script in namespaces of its own, as root of a uid range that owns nothing on this machine: no network, no
 * other processes, and only `tree` can be written, where ids are mapped so that the disk gets the script's own.
 * The packages are below it in debs, read-only. inside: the tree is also the root, and nothing else of the machine
 * exists; else the script uses the machine's programs and starts in the tree.
 */
int template_step_confined(const struct template_steps *s, const char *script, int tree, int debs, bool inside,
			   struct inis_error *err);

#endif
