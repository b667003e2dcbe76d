/* SPDX-License-Identifier: Apache-2.0
 *
 * stopwatch.h - the verbs of the bench's measuring program.
 *
 * One command a line on stdin, its words separated by tabs; one line of answer on stdout, its words likewise: "ok" and
 * what the verb measured, or "error" and why. Times are nanoseconds of CLOCK_MONOTONIC. Reading the command and
 * writing the answer are outside of what is measured.
 */
#ifndef INIS_BENCH_STOPWATCH_H
#define INIS_BENCH_STOPWATCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Answers "error" with the text; returns -1. */
int refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Each verb prints its answer, or calls refuse(). words[0] is the verb itself; words[count] is NULL. */

/* spawn ARGV… → ns status: posix_spawn with all streams at /dev/null, and the wait for its end. */
int verb_spawn(int count, char **words);
/* spawns COUNT AT_ONCE ARGV… → ns failed: so many of them, never more than AT_ONCE running. */
int verb_spawns(int count, char **words);

/* target PORT TOKEN: the server of all verbs below, on the loopback. */
int verb_target(int count, char **words);
/* request METHOD PATH BODY → ns status body: on one connection that is kept. */
int verb_request(int count, char **words);
/* session BODY EXEC_BODY → ns id: a create and a first exec, which must exit with 0. */
int verb_session(int count, char **words);
/* burst COUNT BODY EXEC_BODY|- → ns failed ids: so many sessions at once, each on a connection of its own, each with a
 * first exec unless it is "-". Until the last answer. */
int verb_burst(int count, char **words);
/* steady SECONDS CONNECTIONS BODY EXEC_BODY → ns cycles failed: create, exec, destroy, again and again. */
int verb_steady(int count, char **words);

/* fetch METHOD PATH BODY FILE|- → ns bytes sha256: the body of the answer, into the file. Without a file bytes are
 * counted and sha256 is "-". */
int verb_fetch(int count, char **words);
/* put PATH BYTES → ns body: a PUT of so many bytes. */
int verb_put(int count, char **words);
/* copy BYTES FILE → ns sha256: the same bytes over a loopback socket, into the file by a process of its own. */
int verb_copy(int count, char **words);

#endif
