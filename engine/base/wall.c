/* SPDX-License-Identifier: Apache-2.0
 *
 * wall.c - walls taken away, in test builds only.
 */
#include "base/wall.h"

#ifdef INIS_TEST_WALLS

#include <string.h>
#include <unistd.h>

#define VARIABLE "INIS_WALLS_OFF="

/* Not by getenv(): processes that share their parent's memory ask too. */
char *inis_walls_entry(void)
{
	for (char **entry = environ; entry && *entry; entry++) {
		if (strncmp(*entry, VARIABLE, strlen(VARIABLE)) == 0)
			return *entry;
	}
	return NULL;
}

bool inis_wall_stands(const char *name)
{
	const char *entry = inis_walls_entry();
	const char *at = entry ? entry + strlen(VARIABLE) : "";
	size_t n = strlen(name);

	while (*at) {
		size_t length = strcspn(at, ",");

		if (length == n && strncmp(at, name, n) == 0)
			return false;
		at += length + (at[length] == ',');
	}
	return true;
}

#endif
