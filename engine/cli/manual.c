/* SPDX-License-Identifier: Apache-2.0
 *
 * manual.c - the overview and the manual page, from the table of verbs.
 */
#include "cli/manual.h"

#include <string.h>

#include "cli/verb.h"

static const char SERVER[] =
	"Which server: INIS_BASE_URL and INIS_API_KEY when they are set, else the embedded engine of\n"
	"this machine, which is started when it does not run. Its state is in INIS_STATE_DIR, by\n"
	"default /var/lib/inis.\n";

static const char EXIT_CODES[] =
	"Exit codes: run, exec, shell and wait exit as their command does (124 when it timed out, 128+N when\n"
	"a signal N ended it), and with 125 when inis itself failed. Other verbs: 0, done; 1, only part of it;\n"
	"2, the command line is wrong; 3, no such session, process or file; 4, the server cannot be reached,\n"
	"or cannot do it now; 124, --timeout is over; 125, anything else; 128+N, ended by signal N.\n";

static const char OUTPUT[] =
	"Errors are one line on stderr. With --json, stdout has JSON with the names of the protocol, one\n"
	"value, or one a line where things come one after another; errors are {\"error\": …, \"code\": …}.\n";

void cli_overview(FILE *to)
{
	fputs("inis - sandboxes for AI agents, from the command line\n\n"
	      "  inis run -- CMD [ARG]…    run one command in a fresh sandbox and throw it away\n\n"
	      "Verbs (inis VERB --help explains each, with examples):\n",
	      to);
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++)
		fprintf(to, "  %-10s %s\n", (*verb)->name, (*verb)->summary);
	fprintf(to, "\n%s\n%s\n%s", SERVER, EXIT_CODES, OUTPUT);
}

/* Text as it is: roff's own characters lose their meaning. */
static void put_text(const char *text)
{
	bool line_begins = true;

	for (; *text; text++) {
		if (line_begins && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else
			putchar(*text);
		line_begins = *text == '\n';
	}
}

static void put_verb(const struct cli_verb *verb)
{
	printf(".SS inis %s\n.nf\n", verb->name);
	put_text(verb->help);
	fputs(".fi\n", stdout);
}

static void put_paragraph(const char *text)
{
	fputs(".PP\n", stdout);
	put_text(text);
}

int cli_manual_page(void)
{
	fputs(".TH INIS 1 \"\" \"inis " INIS_VERSION "\" \"User Commands\"\n"
	      ".SH NAME\ninis \\- sandboxes for AI agents, from the command line\n"
	      ".SH SYNOPSIS\n.B inis\n.I VERB\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
	      ".SH DESCRIPTION\n",
	      stdout);
	put_text(
		"A session is an isolated sandbox: inis makes them, runs commands in them, copies files, and destroys them.\n");
	put_paragraph(SERVER);
	put_paragraph(OUTPUT);
	fputs(".SH VERBS\n", stdout);
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++)
		put_verb(*verb);
	fputs(".SH EXIT STATUS\n", stdout);
	put_text(EXIT_CODES);
	fputs(".SH ENVIRONMENT\n", stdout);
	put_text("INIS_BASE_URL and INIS_API_KEY name a server and its key; a key alone means the published service.\n"
		 "INIS_STATE_DIR is where the embedded engine keeps its state.\n");
	fputs(".SH FILES\n", stdout);
	put_text(
		"/var/lib/inis: the state of the embedded engine; engine.json there says where it listens, engine.log\n"
		"what it had to say.\n");
	fputs(".SH SEE ALSO\n.BR inisd (8)\n", stdout);
	return ferror(stdout) ? CLI_FAILED : 0;
}
