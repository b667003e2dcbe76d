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

#include "cli/complete.h"
#include "cli/manual.h"
#include "cli/verb.h"

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

static int unknown(const char *name)
{
	const struct cli_verb *like = cli_verb_like(name);

	fprintf(stderr, "inis: no verb \"%s\"", name);
	if (like) {
		fprintf(stderr, "; did you mean \"%s\"?\nSee: inis --help\n", like->name);
	} else {
		fputs("\n\n", stderr);
		cli_overview(stderr);
	}
	return CLI_USAGE;
}

static int help(const char *topic)
{
	const struct cli_verb *verb;

	if (!topic) {
		cli_overview(stdout);
		return 0;
	}
	if (strcmp(topic, "--man") == 0)
		return cli_manual_page();
	verb = cli_verb_find(topic);
	return verb ? cli_help(verb) : unknown(topic);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";

	fill_standard_streams();
	/* A reader that leaves is an error of write(), not a death that leaves a session behind. */
	signal(SIGPIPE, SIG_IGN);
	if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
		puts("inis " INIS_VERSION);
		return 0;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return help(argc > 2 ? argv[2] : NULL);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		fputs("inis: cannot set up the HTTP client\n", stderr);
		return CLI_FAILED;
	}
	if (strcmp(name, CLI_COMPLETE) == 0)
		return cli_complete(argv + 2);
	cli_current = cli_verb_find(name);
	return cli_current ? cli_current->run(argc - 1, argv + 1) : unknown(name);
}
