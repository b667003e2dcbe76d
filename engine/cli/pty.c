/* SPDX-License-Identifier: Apache-2.0
 *
 * pty.c - a terminal of a session on our own.
 *
 * DOC: How it works
 *
 * One poll() over the connection, stdin and two signal descriptors: of what ends
 * this program, and of what only concerns a terminal. No signal has its default
 * effect meanwhile, so that every way out leads past the restoring. Stdin is read
 * only while the connection takes what came from it.
 */
#include "cli/pty.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/interrupt.h"
#include "cli/replay.h"
#include "cli/socket.h"
#include "cli/terminal.h"

#define PIECE    16384
#define OUT_HIGH 262144 /* no more of stdin beyond it */
#define EOT      "\x04"

/* Leaves what a full-screen program that goes on elsewhere has set: its screen, the mouse, keys, colours. */
#define PLAIN "\x1b[?47l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1l\x1b>\x1b[?25h\x1b[0m\r\n"
#define CLEAR "\x1b[H\x1b[2J"

enum frame { FRAME_DATA = 1, FRAME_RESIZE = 2, FRAME_EXIT = 5, FRAME_ERROR = 6, FRAME_SIZE = 7 };
enum { SIZE_BEGIN = 1, SIZE_LIVE = 4 };

struct run {
	struct cli_socket socket;
	struct cli_terminal terminal;
	int interrupts;
	int signals;
	int exit_code; /* -1 until known */
	bool stdin_open;
	bool exited; /* the program, not only we */
	bool left; /* it may run on without us */
	struct cli_replay replay;
	char failure[256]; /* text of an ERROR */
};

/* ---- to the session ---- */

static void send_size(struct run *run)
{
	uint16_t rows, cols;
	uint8_t size[4];

	if (!cli_terminal_size(&rows, &cols))
		return;
	size[0] = (uint8_t)(rows >> 8);
	size[1] = (uint8_t)rows;
	size[2] = (uint8_t)(cols >> 8);
	size[3] = (uint8_t)cols;
	cli_socket_send(&run->socket, FRAME_RESIZE, size, sizeof(size));
}

/* The end of a stdin that is no terminal is typed, as there is no other way to say it. */
static void send_stdin(struct run *run)
{
	uint8_t data[PIECE];
	ssize_t n = read(0, data, sizeof(data));
	size_t dropped = n > 0 ? cli_replay_filter(&run->replay, data, (size_t)n) : 0;

	if (n > 0 && dropped < (size_t)n)
		cli_socket_send(&run->socket, FRAME_DATA, data + dropped, (size_t)n - dropped);
	else if (n > 0)
		return;
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		run->stdin_open = false;
	if (!run->stdin_open && run->terminal.fd < 0)
		cli_socket_send(&run->socket, FRAME_DATA, EOT, 1);
}

/* ---- from the session ---- */

static int write_out(struct run *run, const uint8_t *data, size_t n)
{
	struct pollfd ready[] = {{.fd = 1, .events = POLLOUT}, {.fd = run->interrupts, .events = POLLIN}};

	while (n > 0) {
		ssize_t written;

		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return -1;
		if (ready[1].revents)
			return -1;
		written = write(1, data, n < 4096 ? n : 4096);
		if (written < 0 && errno != EAGAIN && errno != EINTR) {
			run->exit_code = 128 + SIGPIPE;
			return -1;
		}
		if (written > 0) {
			data += written;
			n -= (size_t)written;
		}
	}
	return 0;
}

/*
 * The sizes of a named terminal. Ours cannot be changed to those of the recording; what the program painted for another
 * one it paints again when it gets ours.
 */
static int on_size(struct run *run, const uint8_t *data, size_t n)
{
	bool begin, live;

	if (n != 5 || !run->terminal.raw)
		return 0;
	begin = data[4] & SIZE_BEGIN;
	live = data[4] & SIZE_LIVE;
	if (begin == live)
		return 0;
	if (begin) {
		cli_replay_begin(&run->replay);
		return write_out(run, (const uint8_t *)CLEAR, sizeof(CLEAR) - 1);
	}
	cli_replay_asked(&run->replay);
	return write_out(run, (const uint8_t *)CLI_REPLAY_QUESTION, sizeof(CLI_REPLAY_QUESTION) - 1);
}

static int on_message(void *ctx, const uint8_t *data, size_t n)
{
	struct run *run = ctx;

	if (n == 0)
		return 0;
	switch (data[0]) {
	case FRAME_DATA:
		return write_out(run, data + 1, n - 1);
	case FRAME_EXIT:
		/* Another system could have codes that ours cannot show. */
		run->exited = true;
		run->exit_code = n == 5 && data[1] == 0 && data[2] == 0 && data[3] == 0 ? data[4] : 255;
		return -1;
	case FRAME_ERROR:
		snprintf(run->failure, sizeof(run->failure), "%.*s", (int)(n < 200 ? n - 1 : 200),
			 (const char *)data + 1);
		return -1;
	case FRAME_SIZE:
		return on_size(run, data + 1, n - 1);
	default:
		return 0;
	}
}

/* ---- signals ---- */

static int watch_signals(struct inis_error *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGQUIT);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0 || sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return inis_fail_errno(err, "cannot watch for signals");
	return fd;
}

/* -1: leave. */
static int on_signals(struct run *run, struct inis_error *err)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGQUIT) {
			run->exit_code = 128 + SIGQUIT;
			return -1;
		}
		if (info.ssi_signo == SIGTSTP && run->terminal.raw) {
			cli_terminal_restore(&run->terminal);
			raise(SIGSTOP);
			if (cli_terminal_raw(&run->terminal, err) < 0)
				return -1;
		}
		send_size(run);
	}
	return 0;
}

/* ---- the loop ---- */

static bool going_on(const struct run *run)
{
	return run->exit_code < 0 && !run->failure[0] && !run->socket.over && !cli_interrupted(run->interrupts, 0);
}

static int step(struct run *run, struct inis_error *err)
{
	bool listen = run->stdin_open && run->socket.out.len < OUT_HIGH;
	struct pollfd fds[] = {
		{.fd = run->socket.fd, .events = (short)(POLLIN | (run->socket.out.len ? POLLOUT : 0))},
		{.fd = listen ? 0 : -1, .events = POLLIN},
		{.fd = run->signals, .events = POLLIN},
		{.fd = run->interrupts, .events = POLLIN},
	};

	if (poll(fds, 4, -1) < 0)
		return errno == EINTR ? 0 : inis_fail_errno(err, "wait");
	if (fds[2].revents && on_signals(run, err) < 0)
		return -1;
	if (fds[1].revents)
		send_stdin(run);
	if (fds[0].revents && cli_socket_read(&run->socket, on_message, run, err) < 0)
		return -1;
	return cli_socket_flush(&run->socket, err);
}

static int drive(struct run *run, struct inis_error *err)
{
	int signo;

	/* Output may have come with the handshake. */
	if (cli_socket_read(&run->socket, on_message, run, err) < 0)
		return -1;
	while (going_on(run)) {
		if (step(run, err) < 0)
			break;
	}
	if (run->exit_code >= 0)
		return run->exit_code;
	signo = cli_interrupted(run->interrupts, 0);
	if (signo)
		return 128 + signo;
	if (run->failure[0])
		return inis_fail(err, INIS_INTERNAL, "%s", run->failure);
	if (run->socket.status == WS_TAKEN_OVER)
		return inis_fail(err, INIS_CONFLICT, "another client has taken the terminal over");
	if (run->socket.over)
		return inis_fail(err, INIS_UNAVAILABLE, "the connection ended before the program did");
	return -1;
}

/* ---- the request ---- */

static void add_query(struct inis_buf *path, const char *name, const char *value)
{
	char *escaped = curl_easy_escape(NULL, value, 0);

	if (escaped)
		inis_buf_printf(path, "&%s=%s", name, escaped);
	else
		path->failed = true;
	curl_free(escaped);
}

/* Variables of one command only are set by a program for that. */
static void add_command(struct inis_buf *path, const struct cli_pty *pty)
{
	const char *name;
	json_t *value;

	if (pty->env)
		add_query(path, "cmd", "env");
	json_object_foreach (pty->env, name, value) {
		cleanup_free char *pair = NULL;

		if (asprintf(&pair, "%s=%s", name, json_string_value(value)) < 0)
			pair = NULL;
		add_query(path, "cmd", pair ? pair : "");
		path->failed |= !pair;
	}
	for (char *const *arg = pty->argv; arg && *arg; arg++)
		add_query(path, "cmd", *arg);
}

static const char *build_path(struct inis_buf *path, const struct cli_session *session, const struct cli_pty *pty)
{
	const char *term = getenv("TERM"), *colorterm = getenv("COLORTERM");
	uint16_t rows, cols;

	cli_terminal_size(&rows, &cols);
	inis_buf_printf(path, "/v1/sessions/%s/pty?rows=%u&cols=%u", session->id, rows, cols);
	if (term && term[0])
		add_query(path, "term", term);
	if (colorterm && colorterm[0])
		add_query(path, "colorterm", colorterm);
	if (pty->name)
		add_query(path, "name", pty->name);
	if (pty->cwd)
		add_query(path, "cwd", pty->cwd);
	add_command(path, pty);
	return inis_buf_cstr(path);
}

static void make_plain(const struct run *run)
{
	if (run->terminal.raw && !run->exited && isatty(1))
		dprintf(1, "%s", PLAIN);
}

static int run_open(struct run *run, struct inis_error *err)
{
	cleanup_close int signals = watch_signals(err);
	int code;

	if (signals < 0 || cli_terminal_raw(&run->terminal, err) < 0)
		return -1;
	run->signals = signals;
	/* What changed while the connection was made. */
	send_size(run);
	code = drive(run, err);
	make_plain(run);
	run->left = !run->exited && !run->failure[0] && run->socket.status != WS_TAKEN_OVER;
	cli_terminal_restore(&run->terminal);
	return code;
}

/* A server without the extension would open one that ends with us. */
static int check_name(const struct cli_client *client, const struct cli_pty *pty, struct inis_error *err)
{
	bool supported = true;

	if (pty->name && cli_client_supports(client, "pty.name", &supported, err) < 0)
		return -1;
	return supported ? 0 : inis_fail(err, INIS_BAD_REQUEST, "this server has no named terminals (pty.name)");
}

int cli_pty_run(const struct cli_client *client, const struct cli_session *session, const struct cli_pty *pty,
		int interrupts, struct inis_error *err)
{
	cleanup_buf struct inis_buf path = INIS_BUF_INIT(0);
	struct run run = {
		.terminal = CLI_TERMINAL_INIT, .interrupts = interrupts, .exit_code = -1, .stdin_open = !pty->no_stdin};
	const char *text = build_path(&path, session, pty);
	int code;

	if (!text)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	if (check_name(client, pty, err) < 0)
		return -1;
	code = cli_socket_open(&run.socket, client, text, err);
	if (code == 0)
		code = run_open(&run, err);
	if (pty->name && run.left)
		fprintf(stderr, "inis: terminal %s goes on: inis shell --name %s %s\n", pty->name, pty->name,
			session->id);
	cli_socket_close(&run.socket);
	return code;
}
