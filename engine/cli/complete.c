/* SPDX-License-Identifier: Apache-2.0
 *
 * complete.c - what may come next on a command line, from the tables of the verbs.
 */
#include "cli/complete.h"

#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/session.h"
#include "cli/verb.h"

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Names are free text: one that a shell would have to quote is not offered. */
static bool plain_word(const char *text)
{
	for (; *text; text++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *text))
			return false;
	return true;
}

static void offer(const char *candidate, const char *what, const char *current)
{
	char text[256];

	if (!begins(candidate, current) || !plain_word(candidate))
		return;
	snprintf(text, sizeof(text), "%s", what);
	printf("%s%s%s\n", candidate, *text ? "\t" : "", cli_plain(text));
}

/* "this|that" */
static void offer_choices(const char *choices, const char *current)
{
	char word[64];

	for (size_t n; *choices; choices += n + (choices[n] == '|')) {
		n = strcspn(choices, "|");
		snprintf(word, sizeof(word), "%.*s", (int)n, choices);
		offer(word, "", current);
	}
}

static void offer_verbs(const char *current)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++)
		offer((*verb)->name, (*verb)->summary, current);
	offer("help", "explain a verb", current);
}

static void offer_options(const struct cli_verb *verb, const char *current)
{
	char text[64];

	for (const struct option *o = verb->options; o && o->name; o++) {
		snprintf(text, sizeof(text), "--%s", o->name);
		offer(text, "", current);
	}
}

/* Only a server that is there already is asked. */
static bool open_running(struct cli_client *client)
{
	return cli_target_running(&client->target);
}

static void offer_sessions(const char *current, const char *suffix)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	json_t *sessions = json_array(), *one;
	char what[192];
	size_t index;

	if (open_running(&client))
		cli_session_list(&client, "", sessions, NULL);
	json_array_foreach (sessions, index, one) {
		const char *id = cli_member(one, "session_id", ""), *name = cli_member(one, "name", "");

		snprintf(what, sizeof(what), "%s%s%s", cli_member(one, "state", ""), *name ? ", " : "", name);
		if (*suffix && begins(id, current))
			printf("%s%s\n", id, suffix);
		else if (!*suffix)
			offer(id, what, current);
		if (*suffix && *name && begins(name, current) && plain_word(name))
			printf("%s%s\n", name, suffix);
		else if (!*suffix && *name)
			offer(name, cli_member(one, "state", ""), current);
	}
	json_decref(sessions);
}

static void offer_processes(const char *session_text, const char *current)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	struct cli_session session;
	json_t *answer = NULL, *process;
	size_t index;

	if (!open_running(&client) || cli_session_find(&client, &session, session_text, NULL) < 0 ||
	    cli_session_request(&client, "GET", &session, "/processes?ended=true", &answer, NULL) < 0)
		return;
	json_array_foreach (json_object_get(answer, "processes"), index, process)
		offer(cli_member(process, "name", ""), cli_member(process, "state", ""), current);
	json_decref(answer);
}

/* The value of an option. */
static void offer_value(const char *option, const char *current)
{
	if (strcmp(option, "size") == 0)
		offer_choices("small|medium|large|xlarge", current);
	else if (strcmp(option, "state") == 0)
		offer_choices("creating|live|paused|failed|ended", current);
	else if (strcmp(option, "state-dir") == 0 || strcmp(option, "cache") == 0)
		puts(":files");
}

static void offer_word(const char *kind, const char *session, const char *current)
{
	if (begins(kind, "session"))
		offer_sessions(current, "");
	else if (strcmp(kind, "process") == 0)
		offer_processes(session ? session : "", current);
	else if (strchr(kind, '|'))
		offer_choices(kind, current);
	else if (strcmp(kind, "path") == 0 && !strpbrk(current, "/:"))
		offer_sessions(current, ":");
	if (strcmp(kind, "path") == 0)
		puts(":files");
}

/* The option's entry when the word is one that takes the next word as its value. */
static const struct option *wants_value(const struct cli_verb *verb, const char *word)
{
	if (begins(word, "--")) {
		for (const struct option *o = verb->options; o && o->name; o++)
			if (strcmp(o->name, word + 2) == 0 && o->has_arg == required_argument)
				return o;
	} else if (word[0] == '-' && word[1] && !word[2]) {
		const char *letter = verb->letters ? strchr(verb->letters, word[1]) : NULL;

		for (const struct option *o = verb->options; letter && letter[1] == ':' && o && o->name; o++)
			if (o->val == word[1])
				return o;
	}
	return NULL;
}

/* What the word in this place is; NULL: nothing more. */
static const char *kind_of(const struct cli_verb *verb, size_t place)
{
	const char *last = NULL;

	for (const char *const *kind = verb->words; kind && *kind; kind++, place--) {
		last = *kind;
		if (place == 0)
			return last;
	}
	return last && strstr(last, "…") ? last : NULL;
}

static void complete_verb(const struct cli_verb *verb, char **words)
{
	const struct option *value_of = NULL;
	const char *session = NULL, *kind;
	bool options_over = false;
	size_t place = 0;

	for (; words[0] && words[1]; words++) {
		if (value_of) {
			value_of = NULL;
		} else if (!options_over && strcmp(words[0], "--") == 0) {
			options_over = true;
		} else if (!options_over && words[0][0] == '-') {
			value_of = wants_value(verb, words[0]);
		} else {
			kind = kind_of(verb, place++);
			if (kind && begins(kind, "session"))
				session = words[0];
			/* From its first word on a command line is the command's own. */
			options_over |= kind && strcmp(kind, "command") == 0;
		}
	}
	if (value_of)
		offer_value(value_of->name, words[0]);
	else if (!options_over && words[0][0] == '-')
		offer_options(verb, words[0]);
	else if ((kind = kind_of(verb, place)))
		offer_word(kind, session, words[0]);
}

int cli_complete(char **words)
{
	const struct cli_verb *verb;

	if (!words[0])
		return 0;
	if (!words[1]) {
		offer_verbs(words[0]);
		return 0;
	}
	verb = cli_verb_find(words[0]);
	if (verb)
		complete_verb(verb, words + 1);
	else if (strcmp(words[0], "help") == 0 && !words[2])
		offer_verbs(words[1]);
	return 0;
}
