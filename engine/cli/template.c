/* SPDX-License-Identifier: Apache-2.0
 *
 * template.c - `inis template`: the file systems that sessions start from.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/target.h"
#include "cli/template_build.h"
#include "cli/template_dir.h"
#include "cli/template_limits.h"
#include "cli/verb.h"

static const char HELP[] =
	"inis template build debian [options] [-- PACKAGE…]\n"
	"inis template ls [--json]\n"
	"inis template verify NAME\n"
	"inis template rm NAME                    the file systems that sessions start from\n\n"
	"Without any, sessions start from \"host\": this machine's own programs, read-only. A template is a\n"
	"file system of its own, in which a session can install and change everything. A running server\n"
	"takes a new one for its default at once.\n\n"
	"  build debian   makes one from the packages of this machine's Debian, as its apt finds them:\n"
	"                 Python, Node.js, git, curl, a compiler and what goes with them; or, in place of\n"
	"                 these, the PACKAGEs\n"
	"  ls             lists those of this machine\n"
	"  verify         reads all of one and compares it with what was built\n"
	"  rm             removes one that no session uses\n\n"
	"  --state-dir DIR  the server's (default: INIS_STATE_DIR, else /var/lib/inis)\n"
	"  --cache DIR      keeps fetched packages there, for the next build\n"
	"  --memory MB      of a build, all its processes together (default 4096; 0: no limit)\n"
	"  --processes N    of a build, at a time (default 1024; 0: no limit)\n"
	"  --timeout TIME   ends a build after TIME: 90, 90s, 5m (default 1h; 0: no limit), exit code 124\n"
	"  --json           print a JSON array\n"
	"  --help\n\n"
	"NAME is a template's name, for its newest version, or NAME@VERSION.\n\n"
	"Examples:\n"
	"  sudo inis template build debian\n"
	"  inis run -- python3 --version\n"
	"  inis create --template host\n";

struct options {
	const char *state_dir;
	const char *cache;
	struct template_limits limits;
	char **words; /* what is no option, NULL-terminated */
	int word_count;
};

static const struct template_limits USUAL = {.mem_mb = 4096, .processes = 1024, .time_ms = 3600000};

typedef int (*command_fn)(const struct options *o, struct inis_error *err);

static json_t *to_json(const struct inis_template_manifest *m)
{
	char built_at[INIS_RFC3339_SIZE];

	inis_rfc3339(m->built_at, built_at);
	return json_pack("{s:s, s:s, s:s+, s:s, s:s, s:I, s:I}", "name", m->name, "version", m->version, "content_hash",
			 "sha256:", m->content, "built_at", built_at, "suite", m->suite, "packages",
			 (json_int_t)m->packages, "size_bytes", (json_int_t)m->size_bytes);
}

static int print_json(const struct template_list *list, struct inis_error *err)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < list->count; i++)
		json_array_append_new(array, to_json(&list->items[i]));
	return cli_print_json(array, err);
}

static void print_table(const struct template_list *list)
{
	printf("%-10s  %-20s  %-10s  %8s  %8s  %s\n", "NAME", "VERSION", "SUITE", "PACKAGES", "MB", "BUILT");
	for (size_t i = 0; i < list->count; i++) {
		const struct inis_template_manifest *m = &list->items[i];
		char built_at[INIS_RFC3339_SIZE];

		inis_rfc3339(m->built_at, built_at);
		printf("%-10s  %-20s  %-10s  %8u  %8llu  %s\n", m->name, m->version, m->suite, m->packages,
		       (unsigned long long)(m->size_bytes >> 20), built_at);
	}
}

static int run_build(const struct options *o, struct inis_error *err)
{
	const struct template_build b = {.state_dir = o->state_dir,
					 .cache = o->cache,
					 .limits = o->limits,
					 .packages = o->word_count > 1 ? o->words + 1 : NULL};
	struct inis_template_manifest m;
	bool fresh;

	if (strcmp(o->words[0], "debian") != 0)
		return inis_fail(err, INIS_NOT_FOUND, "\"%s\" is not known; \"debian\" can be built", o->words[0]);
	if (o->cache && o->cache[0] != '/')
		return inis_fail(err, INIS_BAD_REQUEST, "--cache must be an absolute path");
	if (template_build_debian(&b, &m, &fresh, err) < 0)
		return -1;
	printf("%s@%s%s\n", m.name, m.version, fresh ? "" : " (was there already)");
	return 0;
}

static int with_list(const struct options *o, int lock_wanted, int *templates, int *lock, struct template_list *list,
		     struct inis_error *err)
{
	*templates = template_dir_open(o->state_dir, err);
	if (*templates < 0)
		return -1;
	if (lock_wanted) {
		*lock = template_dir_lock(*templates, err);
		if (*lock < 0)
			return -1;
		template_dir_sweep(*templates);
		template_group_sweep(*templates);
	}
	return template_dir_list(*templates, list, err);
}

static int run_ls(const struct options *o, struct inis_error *err)
{
	cleanup_close int templates = -1;
	cleanup_close int lock = -1;
	struct template_list list = {0};
	int rc = with_list(o, 0, &templates, &lock, &list, err);

	if (rc == 0 && cli_json)
		rc = print_json(&list, err);
	else if (rc == 0)
		print_table(&list);
	template_list_free(&list);
	return rc;
}

static int run_verify(const struct options *o, struct inis_error *err)
{
	cleanup_close int templates = -1;
	cleanup_close int lock = -1;
	cleanup_close int dir = -1;
	struct template_list list = {0};
	struct inis_template_manifest m;
	const struct inis_template_manifest *found = NULL;
	char name[INIS_TEMPLATE_DIR_SIZE];

	if (with_list(o, 0, &templates, &lock, &list, err) == 0)
		found = template_list_find(&list, o->words[0], err);
	if (found) {
		inis_template_dir_name(found, name);
		dir = inis_template_open(templates, name, &m, err);
	}
	template_list_free(&list);
	if (dir < 0 || inis_template_verify(dir, &m, INIS_TREE_CONTENT, err) < 0)
		return -1;
	printf("%s@%s is what was built (sha256:%s)\n", m.name, m.version, m.content);
	return 0;
}

static int run_rm(const struct options *o, struct inis_error *err)
{
	cleanup_close int templates = -1;
	cleanup_close int lock = -1;
	struct template_list list = {0};
	const struct inis_template_manifest *found = NULL;
	int rc = -1;

	if (with_list(o, 1, &templates, &lock, &list, err) == 0)
		found = template_list_find(&list, o->words[0], err);
	if (found)
		rc = template_dir_remove(templates, found, err);
	template_list_free(&list);
	return rc;
}

static const struct {
	const char *name;
	command_fn run;
	int words_min, words_max;
} COMMANDS[] = {{"build", run_build, 1, 30}, {"ls", run_ls, 0, 0}, {"verify", run_verify, 1, 1}, {"rm", run_rm, 1, 1}};

static int dispatch(const char *name, const struct options *o)
{
	struct inis_error err = INIS_ERROR_INIT;

	for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
		if (strcmp(COMMANDS[i].name, name) != 0)
			continue;
		if (o->word_count < COMMANDS[i].words_min || o->word_count > COMMANDS[i].words_max)
			return cli_usage(&cli_verb_template, "%s: too %s arguments", name,
					 o->word_count < COMMANDS[i].words_min ? "few" : "many");
		if (geteuid() != 0)
			return cli_usage(&cli_verb_template, "templates are root's");
		return COMMANDS[i].run(o, &err) < 0 ? cli_fail(&err) : 0;
	}
	return cli_usage(&cli_verb_template, "\"%s\" is not known", name);
}

static const struct option OPTIONS[] = {
	{"state-dir", required_argument, NULL, 's'},
	{"cache", required_argument, NULL, 'c'},
	{"memory", required_argument, NULL, 'm'},
	{"processes", required_argument, NULL, 'p'},
	{"timeout", required_argument, NULL, 't'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	struct options *o = ctx;
	json_int_t number = 0;
	int rc = 0;

	switch (option) {
	case 's':
		o->state_dir = optarg;
		break;
	case 'c':
		o->cache = optarg;
		break;
	case 't':
		rc = cli_option_duration_or_zero(optarg, &number, err);
		o->limits.time_ms = number;
		break;
	default:
		rc = cli_option_count(optarg, &number, err);
		*(option == 'm' ? &o->limits.mem_mb : &o->limits.processes) = (uint32_t)number;
	}
	return rc;
}

static int run(int argc, char **argv)
{
	struct options o = {.state_dir = cli_state_dir(), .limits = USUAL};
	int code = cli_parse_words(&cli_verb_template, argc, argv, take_option, &o, 1, argc, "what to do is missing");

	if (code != CLI_GO_ON)
		return code;
	o.words = argv + optind + 1;
	o.word_count = argc - optind - 1;
	return dispatch(argv[optind], &o);
}

const struct cli_verb cli_verb_template = {
	.name = "template",
	.summary = "build, list and remove what sessions start from",
	.help = HELP,
	.run = run,
	.options = OPTIONS,
	.words = (const char *const[]){"build|ls|verify|rm", NULL},
};
