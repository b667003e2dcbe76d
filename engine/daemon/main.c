/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - `inisd`: the server. `serve` is for people, `front` is what the supervisor starts.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/doctor.h"
#include "daemon/front.h"
#include "daemon/supervisor.h"

static void print_help(FILE *to)
{
	fputs("inisd - the inis server: sandboxes for AI agents over HTTP\n"
	      "\n"
	      "  inisd serve [OPTIONS]    run a server; needs root\n"
	      "  inisd doctor [OPTIONS]   say whether this machine can run sessions, and what stands in the way\n"
	      "  inisd --version\n"
	      "\n"
	      "A server on another port, with its own state:\n"
	      "  inisd serve --listen 127.0.0.1:7071 --state-dir /srv/inis --key-file /srv/inis.key\n"
	      "It prints a line once it listens. Clients need the address and a key of the file:\n"
	      "  INIS_BASE_URL=http://127.0.0.1:7071 INIS_API_KEY=$(head -n1 /srv/inis.key) inis run -- uname -a\n"
	      "\n",
	      to);
	inisd_config_help(to);
	fputs("\n"
	      "SIGTERM ends the server; sessions run on, and the next `inisd serve` on the same state directory\n"
	      "finds them again. Logs go to stderr, one JSON object a line.\n",
	      to);
}

static int serve(int argc, char *const *argv)
{
	static struct inisd_config config;
	bool help;

	if (inisd_config_read(&config, argc, argv, &help, stderr) < 0)
		return 2;
	if (help) {
		print_help(stdout);
		return 0;
	}
	return inisd_serve(&config);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "--help";

	if (strcmp(verb, "serve") == 0)
		return serve(argc - 2, argv + 2);
	if (strcmp(verb, "doctor") == 0)
		return inisd_doctor(argc - 2, argv + 2);
	if (strcmp(verb, "front") == 0)
		return inis_front_main();
	if (strcmp(verb, "--version") == 0 || strcmp(verb, "version") == 0) {
		puts("inisd " INIS_VERSION);
		return 0;
	}
	if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0 || strcmp(verb, "help") == 0) {
		print_help(stdout);
		return 0;
	}
	fprintf(stderr, "inisd: no verb \"%s\"; see inisd --help\n", verb);
	return 2;
}
