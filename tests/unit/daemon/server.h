/* SPDX-License-Identifier: Apache-2.0
 *
 * server.h - a real inisd for tests, with a state directory of its own.
 */
#ifndef INIS_TESTS_DAEMON_SERVER_H
#define INIS_TESTS_DAEMON_SERVER_H

#include <stddef.h>
#include <sys/types.h>

struct server {
	char state_dir[64];
	pid_t pid;
	int port;
	int out; /* its standard output */
};

/* A fresh state directory; skips the test where there can be no server. */
void server_init(struct server *s);
/* Starts inisd with more options (NULL-ended) and waits for its line; fails the test when it does not come. */
void server_start(struct server *s, const char *const *more);
/* Starts inisd and waits for its end; gives the exit status, what it wrote to stderr is put into text. */
int server_fails(const struct server *s, const char *const *options, char *text, size_t size);
/* SIGTERM or SIGKILL; gives the exit status, or 128 + signal. */
int server_stop(struct server *s, int signal);
void server_free(struct server *s);

/* The pid of its child of this name ("inisd" is the front); waits for one other than `not`. */
pid_t server_child(const struct server *s, const char *name, pid_t not );
/* The status of an authorised request (0: no answer); the body goes to text. */
int server_request(const struct server *s, const char *method, const char *path, const char *body, char *text,
		   size_t size);
/* Repeats it until the answer is 2xx; fails the test when that takes too long. */
void server_get_until_ok(const struct server *s, const char *path, char *text, size_t size);

#endif
