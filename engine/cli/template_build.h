/* SPDX-License-Identifier: Apache-2.0
 *
 * template_build.h - building the template "debian".
 */
#ifndef INIS_CLI_TEMPLATE_BUILD_H
#define INIS_CLI_TEMPLATE_BUILD_H

#include "base/error.h"
#include "cli/template_limits.h"
#include "template/manifest.h"

struct template_build {
	const char *state_dir;
	const char *cache; /* absolute directory that keeps packages from build to build; NULL: none */
	struct template_limits limits;
	char *const *packages; /* NULL-terminated; in place of the usual ones, or NULL */
};

/* Builds it and gives it its name. *fresh: false when the very same template was there already. */
int template_build_debian(const struct template_build *b, struct inis_template_manifest *out, bool *fresh,
			  struct inis_error *err);

#endif
