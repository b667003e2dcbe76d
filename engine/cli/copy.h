/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.h - files and trees between this machine and a session.
 *
 * They travel as a tar archive through one exec of the session's archive program, in both directions in one pass: ten
 * thousand small files are one request, and no name has to fit into JSON. What a session sends is unpacked beneath the
 * target only, whatever it says (os/tree.h).
 */
#ifndef INIS_CLI_COPY_H
#define INIS_CLI_COPY_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

#include "cli/session.h"
#include "os/tree.h"

struct copy {
	const struct cli_client *client;
	const struct cli_session *session;
	const char *local; /* "-": stdin or stdout */
	const char *remote;
	const char *const *exclude; /* NULL-terminated */
	int interrupts;
	struct inis_tree_report report; /* how it went; note and ctx are set by copy.c */
	/* ---- copy.c's own ---- */
	pthread_mutex_t telling; /* held for what follows: a packing thread tells too */
	json_t *left_out, *failed; /* texts for --json */
	struct inis_error remote_error; /* why the session's side has not carried the whole */
	struct inis_buf notes; /* of the program in the session, not whole yet */
	_Atomic unsigned long long carried; /* bytes of the archive so far */
	inis_ms began;
	bool showed; /* a line of progress is on the terminal */
};

void copy_init(struct copy *c);
void copy_free(struct copy *c);

enum copy_outcome { COPY_DONE, COPY_STOPPED };

/* -1: nothing, or not the whole, could be copied; what is missing of it is in the report otherwise. */
int copy_up(struct copy *c, struct inis_error *err);
int copy_down(struct copy *c, struct inis_error *err);

/* ---- for the two directions: copy.c ---- */

/* The session's archive program with these arguments. fd: its stdin, or -1. CLI_EXEC_* or -1. */
int copy_run(struct copy *c, const char *const args[], int fd,
	     int (*output)(void *ctx, int fd, const uint8_t *data, size_t n), void *ctx, int *exit_code,
	     struct inis_error *err);
/* What that program says on its stderr. */
void copy_take_notes(struct copy *c, const uint8_t *data, size_t n);
/* 0 when it has carried the whole, but for what it has named. */
int copy_check_remote(const struct copy *c, int exit_code, struct inis_error *err);
/* The path names the contents of a directory: it ends in ".", ".." or nothing. */
bool copy_is_contents(const char *path);

#endif
