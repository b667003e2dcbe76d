/* SPDX-License-Identifier: Apache-2.0
 *
 * wall.h - a name for each wall that holds a guest in, so that tests can take one away and see what falls.
 *
 * Products are built without INIS_TEST_WALLS: there WALL() is the constant true, and not even a name is left in the
 * program. A test build looks at the variable INIS_WALLS_OFF, a list of names separated by commas.
 */
#ifndef INIS_BASE_WALL_H
#define INIS_BASE_WALL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef INIS_TEST_WALLS

/* Whether this wall is up. */
bool inis_wall_stands(const char *name);

/* The variable as an entry of a child's environment; NULL when no wall is down. */
char *inis_walls_entry(void);

#define WALL(name_)        inis_wall_stands(name_)
#define INIS_WALLS_ENTRY() inis_walls_entry()

#else

#define WALL(name_)        true
#define INIS_WALLS_ENTRY() NULL

#endif
#endif
