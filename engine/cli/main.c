/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - `inis`, the command line: finds the verb and runs it.
 */
#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"

static const struct cli_verb *const VERBS[] = {
	&cli_verb_run, &cli_verb_create, &cli_verb_exec,     &cli_verb_shell,
	&cli_verb_ls,  &cli_verb_rm,     &cli_verb_template, &cli_verb_env,
};
#define VERB_COUNT (sizeof(VERBS) / sizeof(VERBS[0]))

static void print_help(FILE *to)
{
	fputs("inis - sandboxes for AI agents, from the command line\n\n"
	      "  inis run -- CMD [ARG]…    run one command in a fresh sandbox and throw it away\n\n"
	      "Verbs (inis VERB --help explains each, with examples):\n",
	      to);
	for (size_t i = 0; i < VERB_COUNT; i++)
		fprintf(to, "  %-8s %s\n", VERBS[i]->name, VERBS[i]->summary);
	fputs("\n"
	      "Which server: INIS_BASE_URL and INIS_API_KEY when they are set, else the embedded engine of\n"
	      "this machine, which is started when it does not run. Its state is in INIS_STATE_DIR, by\n"
	      "default /var/lib/inis.\n\n"
	      "Exit codes: run and exec exit as their command does (124 when it timed out, 128+N when a\n"
	      "signal N ended it); 125 says that inis itself failed, with the reason on stderr.\n",
	      to);
}

static const struct cli_verb *find_verb(const char *name)
{
	for (size_t i = 0; i < VERB_COUNT; i++)
		if (strcmp(VERBS[i]->name, name) == 0)
			return VERBS[i];
	return NULL;
}

/* A caller may have closed a standard stream; nothing else must get its number. */
static void fill_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";
	const struct cli_verb *verb;

	fill_standard_streams();
	/* A reader that leaves is an error of write(), not a death that leaves a session behind. */
	signal(SIGPIPE, SIG_IGN);
	if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
		puts("inis " INIS_VERSION);
		return 0;
	}
	if (strcmp(name, "help") == 0 && argc > 2 && (verb = find_verb(argv[2])))
		return cli_help(verb);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		print_help(stdout);
		return 0;
	}
	verb = find_verb(name);
	if (!verb) {
		fprintf(stderr, "inis: no verb \"%s\"\n\n", name);
		print_help(stderr);
		return CLI_FAILED;
	}
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		fputs("inis: cannot set up the HTTP client\n", stderr);
		return CLI_FAILED;
	}
	return verb->run(argc - 1, argv + 1);
}
