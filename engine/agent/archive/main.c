/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - file trees in and out of a session: arguments, streams, exit code.
 *
 * A signal that asks it to end is seen between reads only, so that what is unfinished is removed first.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/archive/archive.h"
#include "base/cleanup.h"
#include "os/fd.h"
#include "os/tree.h"

#define PIECE 65536
#define USAGE "usage: pack PATH [PATTERN]… | unpack [--contents] PATH | put PATH NAME"

static volatile sig_atomic_t told_to_end;

static void on_signal(int signo)
{
	(void)signo;
	told_to_end = 1;
}

/* Blocked but while we wait for input. */
static void watch_signals(sigset_t *before)
{
	const struct sigaction action = {.sa_handler = on_signal};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigprocmask(SIG_BLOCK, &set, before);
}

static void say(char kind, const char *text)
{
	char record[8192];
	int n = snprintf(record, sizeof(record) - 1, "%c%s", kind, text);

	inis_write_all(STDERR_FILENO, record, (n < (int)sizeof(record) - 1 ? (size_t)n : sizeof(record) - 2) + 1, NULL);
}

static void on_note(void *ctx, bool failed, const char *text)
{
	(void)ctx;
	say(failed ? 'f' : 's', text);
}

static int on_packed(void *ctx, const void *data, size_t n)
{
	(void)ctx;
	return inis_write_all(STDOUT_FILENO, data, n, NULL);
}

typedef int (*taker)(void *ctx, const void *data, size_t n, struct inis_error *err);

/* All of stdin, in pieces. */
static int take_input(taker take, void *ctx, struct inis_error *err)
{
	struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
	static unsigned char piece[PIECE];
	sigset_t before;
	ssize_t n;

	watch_signals(&before);
	for (;;) {
		if (ppoll(&ready, 1, NULL, &before) < 0 && errno != EINTR)
			return inis_fail_errno(err, "cannot wait for the input");
		if (told_to_end)
			return inis_fail(err, INIS_UNAVAILABLE, "interrupted");
		n = ready.revents ? read(STDIN_FILENO, piece, sizeof(piece)) : -1;
		if (n < 0 && ready.revents && errno != EINTR && errno != EAGAIN)
			return inis_fail_errno(err, "cannot read the input");
		if (n == 0)
			return 0;
		if (n > 0 && take(ctx, piece, (size_t)n, err) < 0)
			return -1;
	}
}

static int feed(void *ctx, const void *data, size_t n, struct inis_error *err)
{
	return inis_tree_unpack_feed(ctx, data, n, err);
}

static int unpack(const char *path, bool contents, struct inis_tree_report *report, struct inis_error *err)
{
	struct inis_tree_place place;
	struct inis_tree_unpack *u = NULL;
	int rc = -1;

	if (inis_tree_place(path, contents, &place, err) == 0)
		u = inis_tree_unpack_new(&place, report, err);
	if (u && take_input(feed, u, err) == 0)
		rc = inis_tree_unpack_end(u, err);
	inis_tree_unpack_free(u);
	close_fd(&place.dir);
	return rc;
}

static int write_file(void *ctx, const void *data, size_t n, struct inis_error *err)
{
	return inis_tree_file_write(ctx, data, n, err);
}

static int put(const char *path, const char *name, struct inis_error *err)
{
	struct inis_tree_place place;
	struct inis_tree_file *f = NULL;
	int rc = -1;

	if (inis_tree_place(path, false, &place, err) == 0)
		f = inis_tree_file_new(&place, name, err);
	if (f && take_input(write_file, f, err) == 0)
		rc = inis_tree_file_end(f, err);
	inis_tree_file_free(f);
	close_fd(&place.dir);
	return rc;
}

static int run(int argc, char **argv, struct inis_tree_report *report, struct inis_error *err)
{
	const char *verb = argc > 1 ? argv[1] : "";
	const struct inis_tree_pack how = {.write = on_packed,
					   .exclude = argc > 3 ? (const char *const *)argv + 3 : NULL};

	if (argc >= 3 && strcmp(verb, "pack") == 0)
		return inis_tree_pack(&how, argv[2], report, err);
	if (argc == 3 && strcmp(verb, "unpack") == 0)
		return unpack(argv[2], false, report, err);
	if (argc == 4 && strcmp(verb, "unpack") == 0 && strcmp(argv[2], "--contents") == 0)
		return unpack(argv[3], true, report, err);
	if (argc == 4 && strcmp(verb, "put") == 0)
		return put(argv[2], argv[3], err);
	return inis_fail(err, INIS_BAD_REQUEST, USAGE);
}

int archive_main(int argc, char **argv)
{
	struct inis_tree_report report = {.note = on_note};
	struct inis_error err = INIS_ERROR_INIT;
	char text[512];

	if (run(argc, argv, &report, &err) < 0) {
		snprintf(text, sizeof(text), "%s %s", inis_code_name(err.code), err.message);
		say('e', text);
		return 1;
	}
	return report.failed ? 1 : 0;
}
