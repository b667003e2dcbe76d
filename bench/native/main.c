/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - the measuring program of the bench: reads commands, answers with times.
 */
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "stopwatch.h"

#define WORDS_MAX 64

int refuse(const char *fmt, ...)
{
	va_list ap;

	fputs("error\t", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	return -1;
}

static const struct verb {
	const char *name;
	int (*run)(int count, char **words);
} verbs[] = {
	{"spawn", verb_spawn},     {"spawns", verb_spawns}, {"target", verb_target}, {"request", verb_request},
	{"session", verb_session}, {"burst", verb_burst},   {"steady", verb_steady}, {"fetch", verb_fetch},
	{"put", verb_put},         {"copy", verb_copy},
};

static void obey(char *command)
{
	char *words[WORDS_MAX + 1];
	int count = 0;

	while (command && count < WORDS_MAX)
		words[count++] = strsep(&command, "\t");
	words[count] = NULL;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verbs[i].name, words[0]) == 0) {
			verbs[i].run(count, words);
			return;
		}
	}
	refuse("%s: no such verb", words[0]);
}

int main(void)
{
	char *command = NULL;
	size_t size = 0;

	signal(SIGPIPE, SIG_IGN);
	while (getline(&command, &size, stdin) > 0) {
		command[strcspn(command, "\n")] = '\0';
		obey(command);
		fflush(stdout);
	}
	free(command);
	return 0;
}
