/* SPDX-License-Identifier: Apache-2.0
 *
 * logs.c - `inis logs`: what a named process has written, and what it goes on to write.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "cli/follow.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis logs [OPTION]… SESSION NAME - what a background process has written\n\n"
	"  -f, --follow     go on until it has exited\n"
	"  -n, --tail N     only the last N lines of each stream\n"
	"  --stdout         only its stdout\n"
	"  --stderr         only its stderr\n"
	"  --timeout TIME   with --follow: stop after TIME and exit with 124\n"
	"  --json           print {\"event\": \"stdout\", \"data\": …}, one object a line\n"
	"  --help\n\n"
	"The process's stdout comes on stdout, its stderr on stderr. The server keeps the last 4 MiB of each. A\n"
	"followed log survives a connection that breaks and a server that is started again: it goes on where it\n"
	"was. Logs can be read after the process has exited and, where the server keeps them, for a while after\n"
	"its session has ended.\n\n"
	"Examples:\n"
	"  inis logs \"$id\" web --tail 20\n"
	"  inis logs -f \"$id\" web 2>errors\n";

struct logs {
	struct cli_client client;
	struct cli_session session;
	const char *name;
	bool only[2]; /* stdout, stderr; neither means both */
	bool follow;
	json_int_t tail; /* -1: all */
	json_int_t timeout_ms; /* 0: none */
	int interrupts;
};

static int print(void *ctx, int fd, const uint8_t *data, size_t n)
{
	const struct logs *l = ctx;

	if (n == 0 || l->only[2 - fd])
		return 0;
	if (!cli_json)
		return cli_write(fd, data, n, l->interrupts);
	return cli_write_json_line(cli_output_event(fd == 1 ? "stdout" : "stderr", data, n), l->interrupts);
}

/* Where the last n lines begin. */
static size_t tail_begin(const struct inis_buf *text, json_int_t n)
{
	size_t at = text->len;

	if (n < 0)
		return 0;
	if (n > 0 && at > 0 && text->data[at - 1] == '\n')
		at--;
	for (; at > 0 && n > 0; at--)
		if (text->data[at - 1] == '\n' && --n == 0)
			break;
	return at;
}

static int take_stream(struct logs *l, const json_t *answer, int fd, uint64_t *end, struct inis_error *err)
{
	static const char *const names[][3] = {{"stdout", "stdout_encoding", "stdout_offset"},
					       {"stderr", "stderr_encoding", "stderr_offset"}};
	const json_t *value = json_object_get(answer, names[fd - 1][0]);
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);
	size_t begin;

	if (json_object_get(answer, names[fd - 1][1])) {
		if (!inis_base64_decode(&text, json_string_value(value), json_string_length(value)))
			return inis_fail(err, INIS_INTERNAL, "the server sent a log that cannot be read");
	} else {
		inis_buf_append(&text, json_string_value(value), json_string_length(value));
	}
	*end = (uint64_t)json_integer_value(json_object_get(answer, names[fd - 1][2])) + text.len;
	begin = tail_begin(&text, l->tail);
	return print(l, fd, text.data + begin, text.len - begin) < 0 ? 1 : 0;
}

/* What is there now; from: where it ends. 1: stopped. */
static int read_now(struct logs *l, uint64_t from[2], struct inis_error *err)
{
	char rest[160];
	json_t *answer;
	int rc;

	snprintf(rest, sizeof(rest), "/processes/%s/logs?ended=true", l->name);
	if (cli_session_request(&l->client, "GET", &l->session, rest, &answer, err) < 0)
		return -1;
	rc = take_stream(l, answer, 1, &from[0], err);
	if (rc == 0)
		rc = take_stream(l, answer, 2, &from[1], err);
	if (rc == 0 && json_is_true(json_object_get(answer, "truncated")) && l->tail < 0)
		cli_say("earlier output is not kept any more");
	json_decref(answer);
	return rc;
}

static int show(struct logs *l, struct inis_error *err)
{
	struct cli_follow follow = {.client = &l->client,
				    .session = &l->session,
				    .name = l->name,
				    .deadline = l->timeout_ms ? inis_deadline_in(l->timeout_ms) : INIS_NEVER,
				    .interrupts = l->interrupts,
				    .output = print,
				    .ctx = l};
	int rc = 0;

	/* Bytes that a read gives are UTF-8 made whole: a follow that needs no tail takes them as they are. */
	if (!l->follow || l->tail >= 0)
		rc = read_now(l, follow.from, err);
	if (rc == 0 && l->follow)
		rc = cli_follow(&follow, err);
	return rc;
}

static int find_and_show(struct logs *l, const char *session, struct inis_error *err)
{
	int rc;

	l->interrupts = cli_interrupts_open(err);
	if (l->interrupts < 0 || cli_process_name(l->name, err) < 0 || cli_client_open(&l->client, err) < 0 ||
	    cli_session_find_kept(&l->client, &l->session, session, err) < 0)
		return -1;
	rc = show(l, err);
	return rc > 0 ? cli_stopped(l->interrupts) : rc;
}

static const struct option OPTIONS[] = {
	{"follow", no_argument, NULL, 'f'},        {"tail", required_argument, NULL, 'n'},
	{"stdout", no_argument, NULL, 'o'},        {"stderr", no_argument, NULL, 'E'},
	{"timeout", required_argument, NULL, 't'}, {"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	struct logs *l = ctx;

	switch (option) {
	case 'f':
		l->follow = true;
		return 0;
	case 'n':
		return cli_option_count(optarg, &l->tail, err);
	case 't':
		return cli_option_duration(optarg, &l->timeout_ms, err);
	default:
		l->only[option == 'E'] = true;
		return 0;
	}
}

static int run(int argc, char **argv)
{
	struct logs l = {.client = CLI_CLIENT_INIT, .tail = -1};
	struct inis_error err = INIS_ERROR_INIT;
	int code = cli_parse_words(&cli_verb_logs, argc, argv, take_option, &l, 2, 2, "which session, which process?");

	if (code != CLI_GO_ON)
		return code;
	if (l.timeout_ms && !l.follow)
		return cli_usage(&cli_verb_logs, "--timeout is for --follow");
	if (l.only[0] && l.only[1])
		l.only[0] = l.only[1] = false;
	l.name = argv[optind + 1];
	code = find_and_show(&l, argv[optind], &err);
	cli_client_close(&l.client);
	return code < 0 ? cli_fail(&err) : code;
}

const struct cli_verb cli_verb_logs = {
	.name = "logs",
	.summary = "what a background process has written",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.letters = "hfn:",
	.words = (const char *const[]){"session", "process", NULL},
};
