/* SPDX-License-Identifier: Apache-2.0
 *
 * support.h - a store in a directory of its own, driven by a loop of its own.
 */
#ifndef INIS_TESTS_STORE_SUPPORT_H
#define INIS_TESTS_STORE_SUPPORT_H

#include <uv.h>

#include "store/store.h"

#define DAY_MS (24LL * 3600 * 1000)

struct box {
	char dir[128];
	uv_loop_t loop;
	struct inis_store *store;
};

/* Makes an empty directory; opens a store in it unless told otherwise. */
void box_make(struct box *box);
void box_open(struct box *box);
/* As box_open, but says whether it worked. */
int box_try_open(struct box *box, int64_t history_ms, struct inis_error *err);
void box_close(struct box *box);
/* Closes and removes the directory. */
void box_remove(struct box *box);

/* For cmocka: *state becomes a box of the case's own, with an open store in it or none. */
int box_set_up(void **state);
int box_set_up_closed(void **state);
int box_tear_down(void **state);

/* A live session numbered n; strings are static. */
struct inis_session_row box_row(int n);
/* Puts a row and waits for the answer; returns its code (INIS_OK when it is stored). */
enum inis_code box_put(struct box *box, const struct inis_session_row *row);
/* Runs the loop until *flag is not 0. */
void box_run_until(struct box *box, const int *flag);
/* Whether the bytes of needle are in any file of the directory. */
int box_files_hold(const struct box *box, const char *needle);

#endif
