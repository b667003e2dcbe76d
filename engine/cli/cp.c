/* SPDX-License-Identifier: Apache-2.0
 *
 * cp.c - `inis cp`: files and directories into a session and out of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/copy.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis cp [OPTION]… LOCAL SESSION:PATH - copy a file or a directory into a session\n"
	"inis cp [OPTION]… SESSION:PATH LOCAL - or out of it\n\n"
	"  --exclude PATTERN  leave out what has such a name, as node_modules or '*.o'; may be repeated\n"
	"  --strict           fail when anything was left out\n"
	"  --json             print what was copied, as {\"files\": …, \"bytes\": …, \"left_out\": […], \"failed\": […]} and so on\n"
	"  -q, --quiet        say nothing but errors\n"
	"  --help\n\n"
	"SESSION is an id or a name. PATH is absolute or relative to /workspace; a LOCAL path with a colon begins\n"
	"with ./ or /. \"-\" is stdin, which becomes one file, or stdout, which gets one.\n\n"
	"When the target is a directory, or ends in /, the source goes into it; else the target is its new name. A\n"
	"source that ends in /. means the contents of that directory. Directories that are missing are made.\n\n"
	"Directories are copied whole: hidden files, empty directories, names of any bytes, permission bits, times.\n"
	"Symbolic links stay links, also dangling ones; only the source itself is followed. Hard links become files\n"
	"of their own; owners and set-id bits are not kept. Sockets, named pipes and devices are left out, which is\n"
	"said on stderr. No ignore file is read.\n\n"
	"Each file, and a directory that is new, appears under its name when it is whole. Files that are there are\n"
	"replaced, directories are filled. A session cannot make this write outside LOCAL, whatever it sends.\n\n"
	"Exit code: 0 when all was copied; 1 when something could not be, which is named on stderr, or, with\n"
	"--strict, was left out; otherwise as of all verbs.\n\n"
	"Examples:\n"
	"  inis cp --exclude node_modules . \"$id\":project/\n"
	"  inis cp \"$id\":project/dist .\n"
	"  inis cp \"$id\":/tmp/report.html - | less\n"
	"  mysqldump shop | inis cp - \"$id\":shop.sql\n";

struct cp_options {
	const char **exclude; /* NULL-terminated */
	size_t n_exclude;
	bool strict;
};

/* Where the session ends and the path begins, or NULL for a path of this machine. */
static const char *remote_colon(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && colon > text && !memchr(text, '/', (size_t)(colon - text)) ? colon : NULL;
}

/* What the session sees as the path; the caller's. An option of its program it is not. */
static char *remote_path(const char *colon)
{
	char *path;

	if (colon[1] == '\0')
		return strdup("/workspace");
	return asprintf(&path, "%s%s", colon[1] == '-' ? "./" : "", colon + 1) < 0 ? NULL : path;
}

static int summary(const struct copy *c, struct inis_error *err)
{
	const struct inis_tree_report *r = &c->report;

	if (!cli_json)
		return 0;
	return cli_print_json(json_pack("{s:I, s:I, s:I, s:I, s:O, s:O}", "files", (json_int_t)r->files, "directories",
					(json_int_t)r->directories, "links", (json_int_t)r->links, "bytes",
					(json_int_t)r->bytes, "left_out", c->left_out, "failed", c->failed),
			      err);
}

static int copy(struct copy *c, const struct cp_options *o, bool up, struct inis_error *err)
{
	int rc;

	copy_init(c);
	rc = up ? copy_up(c, err) : copy_down(c, err);
	if (rc == COPY_STOPPED)
		rc = cli_stopped(c->interrupts);
	else if (rc == COPY_DONE)
		rc = summary(c, err) < 0                                             ? -1
		     : c->report.failed > 0 || (o->strict && c->report.left_out > 0) ? CLI_INCOMPLETE
										     : 0;
	copy_free(c);
	return rc;
}

static int copy_between(const char *from, const char *to, const struct cp_options *o, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;
	bool up = remote_colon(to);
	const char *remote = up ? to : from, *colon = remote_colon(remote);
	char *session_text = strndup(remote, (size_t)(colon - remote)), *path = remote_path(colon);
	struct cli_session session;
	struct copy c = {.client = &client,
			 .session = &session,
			 .local = up ? from : to,
			 .remote = path,
			 .exclude = o->exclude,
			 .interrupts = cli_interrupts_open(err)};
	int rc = -1;

	if (!session_text || !path)
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	else if (c.interrupts >= 0 && cli_client_open(&client, err) == 0 &&
		 cli_session_find(&client, &session, session_text, err) == 0)
		rc = copy(&c, o, up, err);
	free(session_text);
	free(path);
	return rc;
}

static const struct option OPTIONS[] = {
	{"exclude", required_argument, NULL, 'x'}, {"strict", no_argument, NULL, 's'}, {"json", no_argument, NULL, 'j'},
	{"quiet", no_argument, NULL, 'q'},         {"help", no_argument, NULL, 'h'},   {NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	struct cp_options *o = ctx;
	const char **more;

	if (option == 's') {
		o->strict = true;
		return 0;
	}
	more = reallocarray(o->exclude, o->n_exclude + 2, sizeof(*more));
	if (!more)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	o->exclude = more;
	o->exclude[o->n_exclude++] = optarg;
	o->exclude[o->n_exclude] = NULL;
	return 0;
}

static int check(const char *from, const char *to)
{
	bool from_remote = remote_colon(from), to_remote = remote_colon(to);

	if (from_remote && to_remote)
		return cli_usage(&cli_verb_cp,
				 "one of both must be on this machine; between sessions, copy through it");
	if (!from_remote && !to_remote)
		return cli_usage(&cli_verb_cp, "neither \"%.100s\" nor \"%.100s\" is of the form SESSION:PATH", from,
				 to);
	if (!*from || !*to)
		return cli_usage(&cli_verb_cp, "an empty path names nothing");
	if (from_remote && strcmp(to, "-") == 0 && cli_json)
		return cli_usage(&cli_verb_cp, "stdout cannot hold both the file and --json");
	return CLI_GO_ON;
}

static int run(int argc, char **argv)
{
	struct cp_options o = {.exclude = NULL};
	struct inis_error err = INIS_ERROR_INIT;
	int code = cli_parse_words(&cli_verb_cp, argc, argv, take_option, &o, 2, 2, "from where, to where?");

	if (code == CLI_GO_ON)
		code = check(argv[optind], argv[optind + 1]);
	if (code == CLI_GO_ON) {
		code = copy_between(argv[optind], argv[optind + 1], &o, &err);
		if (code < 0)
			code = cli_fail(&err);
	}
	free(o.exclude);
	return code;
}

const struct cli_verb cli_verb_cp = {
	.name = "cp",
	.summary = "copy files into a session or out of it",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.letters = "hq",
	.words = (const char *const[]){"path", "path", NULL},
};
