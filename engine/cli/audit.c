/* SPDX-License-Identifier: Apache-2.0
 *
 * audit.c - `inis audit`: what was run in a session.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/pages.h"
#include "cli/session.h"
#include "cli/verb.h"

#define PAGE_MAX 200

static const char HELP[] = "inis audit [OPTION]… SESSION - show what was run in a session, the latest first\n\n"
			   "  --limit N   show the latest N entries; 0 shows all (default 50)\n"
			   "  --json      print the entries as one JSON array\n"
			   "  --help\n\n"
			   "Works for sessions that have ended, too. What is kept of a command is what the session's\n"
			   "command_capture says: its SHA-256, its program, or all of it.\n\n"
			   "Examples:\n"
			   "  inis audit \"$id\"\n"
			   "  inis audit --limit 0 --json \"$id\" | jq '.[] | select(.exit_code != 0)'\n";

struct wanted {
	json_t *entries;
	size_t limit; /* 0: all */
};

static int append(void *ctx, const json_t *page, struct inis_error *err)
{
	const struct wanted *w = ctx;
	const json_t *entry;
	size_t index;

	(void)err;
	json_array_foreach (json_object_get(page, "entries"), index, entry) {
		json_array_append(w->entries, (json_t *)entry);
		if (json_array_size(w->entries) == w->limit)
			return 1;
	}
	return 0;
}

/* The latest `limit` entries, or all of them when it is 0. */
static int fetch(const struct cli_client *client, const struct cli_session *session, size_t limit, json_t *entries,
		 struct inis_error *err)
{
	struct wanted wanted = {entries, limit};
	char path[192];

	snprintf(path, sizeof(path), "/v1/sessions/%s/audit?limit=%zu", session->id,
		 limit == 0 || limit > PAGE_MAX ? PAGE_MAX : limit);
	return cli_pages(client, path, append, &wanted, err) < 0 ? -1 : 0;
}

/* One line, whatever is in it: a command may hold what would move the cursor. */
static void print_words(const json_t *words)
{
	char *line = json_dumps(words, JSON_COMPACT | JSON_ENSURE_ASCII);

	fputs(line ? line : "?", stdout);
	free(line);
}

static void print_command(const json_t *entry)
{
	const json_t *command = json_object_get(entry, "command");
	const json_t *executable = json_object_get(entry, "executable");

	if (command)
		print_words(command);
	else if (executable)
		print_words(executable);
	else if (*cli_member(entry, "command_sha256", ""))
		printf("sha256:%s", cli_member(entry, "command_sha256", ""));
	putchar('\n');
}

static void print_outcome(const json_t *entry)
{
	const json_t *code = json_object_get(entry, "exit_code");

	if (json_is_true(json_object_get(entry, "timed_out")))
		printf("  %-11s", "timed out");
	else if (json_is_integer(code))
		printf("  exit %-6" JSON_INTEGER_FORMAT, json_integer_value(code));
	else
		printf("  %-11.11s", cli_member(entry, "error", ""));
}

static void print_number(const json_t *entry, const char *member)
{
	const json_t *number = json_object_get(entry, member);

	if (json_is_integer(number))
		printf("  %8" JSON_INTEGER_FORMAT, json_integer_value(number));
	else
		printf("  %8s", "-");
}

static void print_table(const json_t *entries)
{
	size_t index;
	json_t *entry;

	printf("%-20s  %-10s  %-11s  %8s  %8s  %-16s  %s\n", "STARTED", "KIND", "OUTCOME", "MS", "CPU MS", "KEY",
	       "COMMAND");
	json_array_foreach (entries, index, entry) {
		printf("%-.19sZ  %-10s", cli_member(entry, "started_at", ""), cli_member(entry, "kind", ""));
		print_outcome(entry);
		print_number(entry, "duration_ms");
		print_number(entry, "cpu_ms");
		printf("  %-16s  ", cli_member(entry, "key_id", ""));
		print_command(entry);
	}
}

static int show(const char *id, size_t limit, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct cli_session session;
	json_t *entries = json_array();
	int rc = -1;

	if (cli_client_open(&client, err) == 0 && cli_session_find_kept(&client, &session, id, err) == 0)
		rc = fetch(&client, &session, limit, entries, err);
	if (rc == 0 && cli_json)
		rc = cli_print_json(json_incref(entries), err);
	else if (rc == 0)
		print_table(entries);
	json_decref(entries);
	return rc;
}

static const struct option OPTIONS[] = {
	{"limit", required_argument, NULL, 'l'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	(void)option;
	return cli_option_count(optarg, ctx, err);
}

static int run(int argc, char **argv)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_int_t limit = 50;
	int code = cli_parse_words(&cli_verb_audit, argc, argv, take_option, &limit, 1, 1, "which session?");

	if (code != CLI_GO_ON)
		return code;
	return show(argv[optind], (size_t)limit, &err) < 0 ? cli_fail(&err) : 0;
}

const struct cli_verb cli_verb_audit = {
	.name = "audit",
	.summary = "show what was run in a session",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.words = (const char *const[]){"session", NULL},
};
