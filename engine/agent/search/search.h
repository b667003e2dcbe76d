/* SPDX-License-Identifier: Apache-2.0
 *
 * search.h - find and grep: a program of the guest.
 *
 * The agent runs its own program again as the guest user, with a request's values as arguments. What is found goes to
 * stdout as records; a reason why nothing was, to stderr as an error message of the agent protocol. The exit code is
 * one of enum search_exit. It knows nothing of the agent and has no rights but the guest's.
 */
#ifndef INIS_AGENT_SEARCH_SEARCH_H
#define INIS_AGENT_SEARCH_SEARCH_H

#include "base/buf.h"
#include "base/clock.h"
#include "wire/search_proto.h"

enum search_exit { SEARCH_WHOLE = 0, SEARCH_CUT = 10, SEARCH_FAILED = 11 };

#define SEARCH_ARGC 11 /* program, verb, and the members of struct inis_search */

/* argv[argc] is NULL; strings are owned by the caller, numbers by `numbers`. */
struct search_args {
	struct inis_str argv[SEARCH_ARGC];
	char numbers[5][16];
};
void search_args(struct search_args *a, const char *program, const char *verb, const struct inis_search *m);

int search_main(int argc, char **argv);

/* ---- between the files of the program ---- */

struct search {
	struct inis_search want;
	const char *path; /* the texts of want, NUL-terminated */
	const char *pattern;
	const char *file_pattern;
	const char *exclude_dirs;
	inis_ms deadline;
	size_t written;
	struct inis_buf out; /* records not written yet */
	bool cut; /* something was left out */
	bool over; /* a limit was reached */
};

void search_emit(struct search *s, const struct inis_record *r);
/* Time is up, or a limit was reached. */
bool search_over(struct search *s);
/* "/workspace" and a path relative to it, without what names nothing. */
void search_root(struct inis_buf *out, const char *path);
bool search_hidden(const struct search *s, const char *name); /* and not wanted */

int search_find(struct search *s, struct inis_error *err);
int search_grep(struct search *s, struct inis_error *err);

#endif
