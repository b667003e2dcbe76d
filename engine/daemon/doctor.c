/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor.c - the checks that need this server's settings, and the verb.
 */
#include "daemon/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "daemon/children.h"
#include "daemon/listener.h"
#include "daemon/state.h"
#include "os/path.h"
#include "template/manifest.h"

#define SCRATCH "/.inis-doctor-XXXXXX"

/* The directory itself or, where it does not exist yet, the nearest one above. */
static void existing_part(const char *path, char out[static PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s", path);
	while (out[1] && access(out, F_OK) < 0) {
		char *slash = strrchr(out, '/');

		slash[slash == out] = '\0';
	}
}

/* On the file system of the state directory, since that decides what layers can do. */
static int make_scratch(const struct inisd_config *config, char path[static PATH_MAX], struct inis_error *err)
{
	char above[PATH_MAX];
	cleanup_close int fd = -1;

	existing_part(config->state_dir, above);
	if (snprintf(path, PATH_MAX, "%s" SCRATCH, above[1] ? above : "") >= PATH_MAX)
		return inis_fail(err, INIS_BAD_REQUEST, "the path of the state directory is too long");
	if (!mkdtemp(path))
		return inis_fail_errno(err, "make a directory in %s", above);
	fd = inis_open_dir(path, err);
	if (fd < 0 || fchmod(fd, 0711) < 0) {
		rmdir(path);
		return fd < 0 ? -1 : inis_fail_errno(err, "mode of %s", path);
	}
	return 0;
}

static void remove_scratch(const char *path)
{
	char above[PATH_MAX];
	const char *slash = strrchr(path, '/');
	cleanup_close int dir = -1;

	snprintf(above, sizeof(above), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	dir = inis_open_dir(above, NULL);
	if (dir >= 0)
		inis_remove_tree_at(dir, slash + 1, NULL);
}

static int find_programs(void *ctx, struct inis_error *err)
{
	struct programs programs;

	(void)ctx;
	return programs_find(&programs, err);
}

/* Whether a server holds the lock of the state directory. */
static bool served_now(const struct inisd_config *config)
{
	char path[PATH_MAX + 8];
	cleanup_close int lock = -1;

	snprintf(path, sizeof(path), "%s/lock", config->state_dir);
	lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0;
}

static int try_address(void *ctx, struct inis_error *err)
{
	const struct inisd_config *config = ctx;
	char url[256];
	cleanup_close int fd = listener_open(config, url, sizeof(url), err);

	return fd < 0 ? -1 : 0;
}

static void check_address(struct doctor_report *r, const struct doctor_subject *s, struct inisd_config *config)
{
	struct doctor_check *c = doctor_try(r, s, "address", DOCTOR_STEP_FILES, try_address, config, config->listen);

	if (c->status == DOCTOR_BLOCKED && served_now(config)) {
		c->status = DOCTOR_OK;
		snprintf(c->detail, sizeof(c->detail), "a server runs on this state directory");
	} else if (c->status == DOCTOR_BLOCKED) {
		snprintf(c->knob, sizeof(c->knob), "the address %s", config->listen);
		snprintf(c->advice, sizeof(c->advice), "choose another one with --listen");
	}
}

static int try_state_dir(void *ctx, struct inis_error *err)
{
	const struct inisd_config *config = ctx;

	return state_check_reachable(config->state_dir, config, err);
}

/* What can be started from; the machine's own /usr always can. */
static void check_templates(struct doctor_report *r, const struct inisd_config *config)
{
	struct doctor_check *c = doctor_add(r, "templates", DOCTOR_STEP_FILES);
	size_t at = (size_t)snprintf(c->detail, sizeof(c->detail), "host");
	char path[PATH_MAX + 16];
	cleanup_dir DIR *entries = NULL;
	struct dirent *e;

	snprintf(path, sizeof(path), "%s/" INIS_TEMPLATES_DIR, config->state_dir);
	entries = opendir(path);
	while (entries && (e = readdir(entries))) {
		struct inis_template_manifest m;
		cleanup_close int dir = -1;

		if (!inis_template_is_dir_name(e->d_name))
			continue;
		dir = inis_template_open(dirfd(entries), e->d_name, &m, NULL);
		if (dir >= 0 && at < sizeof(c->detail))
			at += (size_t)snprintf(c->detail + at, sizeof(c->detail) - at, ", %s@%s", m.name, m.version);
	}
}

static void check_machine(struct doctor_report *r, struct doctor_subject *s, const struct inisd_config *config)
{
	cleanup_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	s->uid_base = (uint32_t)config->uid_base;
	doctor_facts_read(&s->facts, root);
	doctor_check_machine(r, s);
}

static void examine(struct doctor_report *r, struct inisd_config *config)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct doctor_subject s = {0};
	char scratch[PATH_MAX];
	struct doctor_check *c;

	if (geteuid() == 0 && make_scratch(config, scratch, &err) == 0)
		s.scratch = scratch;
	check_machine(r, &s, config);
	doctor_try(r, &s, "programs", DOCTOR_STEP_FILES, find_programs, NULL,
		   "inis-broker and inis-agent are beside inisd");
	c = doctor_try(r, &s, "state_directory", DOCTOR_STEP_FILES, try_state_dir, config, config->state_dir);
	if (err.code != INIS_OK && c->status == DOCTOR_OK)
		doctor_failed(c, &s, &err);
	check_templates(r, config);
	check_address(r, &s, config);
	if (s.scratch && !doctor_blocked(r))
		inisd_doctor_unit(r, &s, config, scratch);
	doctor_check_later(r);
	if (s.scratch)
		remove_scratch(scratch);
}

void inisd_doctor_explain(const struct inisd_config *config, const struct inis_error *reason, FILE *to)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct doctor_subject s = {0};
	static struct doctor_report r;
	char scratch[PATH_MAX];

	if (make_scratch(config, scratch, &err) == 0)
		s.scratch = scratch;
	check_machine(&r, &s, config);
	if (!doctor_blocked(&r))
		doctor_failed(doctor_add(&r, "session", DOCTOR_STEP_UNIT), &s, reason);
	doctor_print_blocked(&r, "inisd: ", to);
	if (s.scratch)
		remove_scratch(scratch);
}

void inisd_doctor_help(FILE *to)
{
	fputs("inisd doctor - whether this machine can run sessions and, if not, what stands in the way\n"
	      "\n"
	      "  inisd doctor [--json] [OPTIONS]\n"
	      "\n"
	      "It makes a session the way a server does, step by step, and leaves nothing. A server may run meanwhile.\n"
	      "Exit status: 0 sessions can be made, 1 they cannot, 2 the options are wrong.\n"
	      "\n"
	      "  --json                     the report as one JSON object\n",
	      to);
}

int inisd_doctor(int argc, char *const *argv)
{
	static struct inisd_config config;
	static struct doctor_report report;
	struct inis_error err = INIS_ERROR_INIT;
	bool json = false;
	bool help;
	char **rest = calloc((size_t)argc + 1, sizeof(*rest));
	int n = 0;

	for (int i = 0; rest && i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			json = true;
		else
			rest[n++] = argv[i];
	}
	if (!rest || inisd_config_read(&config, n, rest, &help, stderr) < 0) {
		free(rest);
		return 2;
	}
	free(rest);
	if (help) {
		inisd_doctor_help(stdout);
		inisd_config_help(stdout);
		return 0;
	}
	inis_log_set_level(INIS_LOG_ERROR);
	examine(&report, &config);
	if (!json)
		doctor_print_text(&report, stdout);
	else if (doctor_print_json(&report, stdout, &err) < 0)
		fprintf(stderr, "inisd: %s\n", err.message);
	return doctor_blocked(&report) ? 1 : 0;
}
