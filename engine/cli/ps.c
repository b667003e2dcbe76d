/* SPDX-License-Identifier: Apache-2.0
 *
 * ps.c - `inis ps`: the named processes of a session, or of all.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis ps [SESSION] - list the background processes of a session, or of all live ones\n\n"
	"  --json   print the process objects, with session_id, as one JSON array\n"
	"  --help\n\n"
	"Of all sessions, those that are paused are not woken: they are named on stderr. A session that has\n"
	"ended shows what the server has kept of it.\n\n"
	"Examples:\n"
	"  inis ps\n"
	"  inis ps --json \"$id\" | jq -r '.[] | select(.state == \"running\") | .name'\n";

static int add_processes(const struct cli_client *client, const struct cli_session *session, json_t *all,
			 struct inis_error *err)
{
	json_t *answer, *process;
	size_t index;

	if (cli_session_request(client, "GET", session, "/processes?ended=true", &answer, err) < 0)
		return -1;
	json_array_foreach (json_object_get(answer, "processes"), index, process) {
		json_object_set_new(process, "session_id", json_string(session->id));
		json_array_append(all, process);
	}
	json_decref(answer);
	return 0;
}

/* A session that ends while we ask has no processes. */
static int add_all(const struct cli_client *client, json_t *all, struct inis_error *err)
{
	json_t *sessions = json_array(), *one;
	int rc = cli_session_list(client, "", sessions, err);
	size_t index;

	json_array_foreach (sessions, index, one) {
		const char *state = cli_member(one, "state", "");
		struct inis_error gone = INIS_ERROR_INIT;
		struct cli_session session;

		if (rc < 0 || cli_session_id(&session, cli_member(one, "session_id", ""), err) < 0)
			break;
		if (strcmp(state, "paused") == 0)
			cli_say("session %s is paused and was not asked", session.id);
		if (strcmp(state, "live") != 0 || add_processes(client, &session, all, &gone) == 0)
			continue;
		if (gone.code != INIS_NOT_FOUND && gone.code != INIS_SESSION_ENDED)
			rc = inis_fail_copy(err, &gone);
	}
	json_decref(sessions);
	return rc;
}

static void print_row(const json_t *process)
{
	cleanup_buf struct inis_buf command = INIS_BUF_INIT(0);
	const json_t *code = json_object_get(process, "exit_code");
	const json_t *pid = json_object_get(process, "pid");
	char code_text[16] = "-", pid_text[16] = "-";
	json_t *arg;
	size_t index;

	json_array_foreach (json_object_get(process, "command"), index, arg)
		inis_buf_printf(&command, "%s%s", index ? " " : "", json_string_value(arg));
	if (code)
		snprintf(code_text, sizeof(code_text), "%d", (int)json_integer_value(code));
	if (pid)
		snprintf(pid_text, sizeof(pid_text), "%d", (int)json_integer_value(pid));
	printf("%-21s  %-16s  %-7s  %4s  %6s  %-.19sZ  %.60s\n", cli_member(process, "session_id", "?"),
	       cli_member(process, "name", "?"), cli_member(process, "state", "?"), code_text, pid_text,
	       cli_member(process, "started_at", "-"), command.len ? cli_plain(inis_buf_cstr(&command)) : "-");
}

static int list(const char *session_text, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	json_t *all = json_array(), *process;
	struct cli_session session;
	size_t index;
	int rc = cli_client_open(&client, err);

	if (rc == 0 && session_text)
		rc = cli_session_find_kept(&client, &session, session_text, err) < 0
			     ? -1
			     : add_processes(&client, &session, all, err);
	else if (rc == 0)
		rc = add_all(&client, all, err);
	if (rc == 0 && cli_json) {
		rc = cli_print_json(json_incref(all), err);
	} else if (rc == 0) {
		printf("%-21s  %-16s  %-7s  %4s  %6s  %-20s  %s\n", "SESSION", "NAME", "STATE", "CODE", "PID",
		       "STARTED", "COMMAND");
		json_array_foreach (all, index, process)
			print_row(process);
	}
	json_decref(all);
	return rc;
}

static const struct option OPTIONS[] = {
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int run(int argc, char **argv)
{
	struct inis_error err = INIS_ERROR_INIT;
	int code = cli_parse_words(&cli_verb_ps, argc, argv, NULL, NULL, 0, 1, NULL);

	if (code != CLI_GO_ON)
		return code;
	return list(argv[optind], &err) < 0 ? cli_fail(&err) : 0;
}

const struct cli_verb cli_verb_ps = {
	.name = "ps",
	.summary = "list background processes",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.words = (const char *const[]){"session", NULL},
};
