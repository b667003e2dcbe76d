/* SPDX-License-Identifier: Apache-2.0
 *
 * up.c - `inis up` and `inis down`: the local engine of a state directory.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/embedded.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verb.h"
#include "os/proc.h"

static const char UP_HELP[] =
	"inis up [OPTION]… - start the local engine, unless it runs, and wait until it answers\n\n"
	"  --state-dir DIR   its state (default: INIS_STATE_DIR, else /var/lib/inis)\n"
	"  --timeout TIME    wait at most TIME (default 30s), then exit with 124\n"
	"  --json            print {\"base_url\": …, \"pid\": …, \"state_dir\": …, \"started\": …}\n"
	"  -q, --quiet       print nothing\n"
	"  --help\n\n"
	"Other verbs start it as well when they need it; then it ends by itself when it has had no session and no\n"
	"request for five minutes. One that `inis up` has started stays until `inis down`.\n\n"
	"Examples:\n"
	"  inis up && eval \"$(inis env)\"\n"
	"  inis up --state-dir /srv/inis --timeout 10s\n";

static const char DOWN_HELP[] =
	"inis down [OPTION]… - stop the local engine\n\n"
	"  --state-dir DIR   its state (default: INIS_STATE_DIR, else /var/lib/inis)\n"
	"  --destroy         destroy its sessions first\n"
	"  --force           stop it although there are sessions: they run on without it, and the next `inis up`\n"
	"                    takes them over\n"
	"  --timeout TIME    wait at most TIME for its end (default 1m), then exit with 124\n"
	"  --json            print {\"pid\": …, \"state_dir\": …, \"stopped\": …, \"sessions\": […]}\n"
	"  -q, --quiet       print nothing but errors\n"
	"  --help\n\n"
	"While there are sessions it names them and refuses, unless one of the options says what becomes of them.\n"
	"Stopping an engine that does not run is no error.\n\n"
	"Examples:\n"
	"  inis down\n"
	"  inis down --destroy\n";

struct up_options {
	const char *state_dir;
	json_int_t timeout_ms;
	bool destroy, force;
};

static const struct option UP_OPTIONS[] = {
	{"state-dir", required_argument, NULL, 's'},
	{"timeout", required_argument, NULL, 't'},
	{"json", no_argument, NULL, 'j'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const struct option DOWN_OPTIONS[] = {
	{"state-dir", required_argument, NULL, 's'},
	{"destroy", no_argument, NULL, 'd'},
	{"force", no_argument, NULL, 'f'},
	{"timeout", required_argument, NULL, 't'},
	{"json", no_argument, NULL, 'j'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_option(void *ctx, int option, struct inis_error *err)
{
	struct up_options *o = ctx;

	switch (option) {
	case 's':
		o->state_dir = optarg;
		return 0;
	case 't':
		return cli_option_duration(optarg, &o->timeout_ms, err);
	default:
		*(option == 'd' ? &o->destroy : &o->force) = true;
		return 0;
	}
}

/* ---- up ---- */

static int up(const struct up_options *o, struct inis_error *err)
{
	struct cli_embedded_start how = {.wait_ms = (int)o->timeout_ms, .idle_seconds = "0"};
	struct cli_target target = {NULL, NULL};
	int rc = cli_embedded_find(&target, o->state_dir, &how, err);

	if (rc == 0 && cli_json)
		rc = cli_print_json(json_pack("{s:s, s:i, s:s, s:b}", "base_url", target.base_url, "pid",
					      (int)cli_embedded_pid(o->state_dir), "state_dir", o->state_dir, "started",
					      how.started),
				    err);
	else if (rc == 0 && !cli_quiet)
		printf("%s at %s, state in %s\n", how.started ? "started" : "running", target.base_url, o->state_dir);
	cli_target_free(&target);
	return rc;
}

static int run_up(int argc, char **argv)
{
	struct up_options o = {.state_dir = cli_state_dir(), .timeout_ms = 30000};
	struct inis_error err = INIS_ERROR_INIT;
	int code = cli_parse_words(&cli_verb_up, argc, argv, take_option, &o, 0, 0, NULL);

	if (code != CLI_GO_ON)
		return code;
	if (o.timeout_ms > 3600000)
		return cli_usage(&cli_verb_up, "--timeout is at most 1h");
	return up(&o, &err) < 0 ? cli_fail(&err) : 0;
}

/* ---- down ---- */

static int destroy_all(const struct cli_client *client, const json_t *sessions, struct inis_error *err)
{
	struct cli_session session;
	const json_t *one;
	size_t index;

	json_array_foreach (sessions, index, one) {
		struct inis_error gone = INIS_ERROR_INIT;

		if (cli_session_id(&session, cli_member(one, "session_id", ""), err) < 0)
			return -1;
		if (cli_session_destroy(client, &session, &gone) < 0 && gone.code != INIS_NOT_FOUND)
			return inis_fail_copy(err, &gone);
	}
	return 0;
}

static int refuse(const json_t *sessions, struct inis_error *err)
{
	const json_t *one;
	size_t index;

	json_array_foreach (sessions, index, one)
		cli_say("session %s is %s (%s)", cli_member(one, "session_id", "?"), cli_member(one, "state", "?"),
			cli_member(one, "name", "no name"));
	return inis_fail(err, INIS_CONFLICT,
			 "%zu session%s would run on without a server: --destroy ends them first, --force leaves them "
			 "to the next `inis up`",
			 json_array_size(sessions), json_array_size(sessions) == 1 ? "" : "s");
}

/* What becomes of the sessions; *sessions is the caller's. */
static int settle_sessions(const struct up_options *o, json_t **sessions, struct inis_error *err)
{
	cleanup_client struct cli_client client = CLI_CLIENT_INIT;

	*sessions = json_array();
	if (!cli_embedded_alive(&client.target, o->state_dir))
		return o->force
			       ? 0
			       : inis_fail(
					 err, INIS_UNAVAILABLE,
					 "the engine does not answer, so its sessions are not known; --force stops it");
	if (cli_session_list(&client, "", *sessions, err) < 0)
		return -1;
	if (o->destroy)
		return destroy_all(&client, *sessions, err);
	return json_array_size(*sessions) == 0 || o->force ? 0 : refuse(*sessions, err);
}

static int stop(pid_t pid, const struct up_options *o, struct inis_error *err)
{
	cleanup_close int pidfd = inis_pidfd_open(pid, err);
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	inis_ms deadline = inis_deadline_in(o->timeout_ms);

	if (pidfd < 0)
		return -1;
	/* Not one that has got the number meanwhile. */
	if (cli_embedded_pid(o->state_dir) != pid)
		return 0;
	if (inis_pidfd_signal(pidfd, SIGTERM) < 0 && errno != ESRCH)
		return inis_fail_errno(err, "cannot stop process %d", (int)pid);
	while (poll(&ended, 1, inis_deadline_poll(deadline)) <= 0)
		if (inis_now_ms() >= deadline)
			return cli_fail_late(err, "the engine, process %d, has not ended in time", (int)pid);
	return 0;
}

static int report(const struct up_options *o, pid_t pid, json_t *sessions, struct inis_error *err)
{
	if (cli_json)
		return cli_print_json(json_pack("{s:i, s:s, s:b, s:O}", "pid", (int)pid, "state_dir", o->state_dir,
						"stopped", pid != 0, "sessions", sessions),
				      err);
	if (!pid)
		cli_say("no engine runs with its state in %s", o->state_dir);
	else if (!cli_quiet)
		printf("stopped; %zu session%s %s\n", json_array_size(sessions),
		       json_array_size(sessions) == 1 ? "" : "s", o->destroy ? "destroyed" : "left running");
	return 0;
}

static int down(const struct up_options *o, struct inis_error *err)
{
	pid_t pid = cli_embedded_pid(o->state_dir);
	json_t *sessions = NULL;
	int rc = pid ? settle_sessions(o, &sessions, err) : 0;

	if (!sessions)
		sessions = json_array();
	if (rc == 0 && pid)
		rc = stop(pid, o, err);
	if (rc == 0)
		rc = report(o, pid, sessions, err);
	json_decref(sessions);
	return rc;
}

static int run_down(int argc, char **argv)
{
	struct up_options o = {.state_dir = cli_state_dir(), .timeout_ms = 60000};
	struct inis_error err = INIS_ERROR_INIT;
	int code = cli_parse_words(&cli_verb_down, argc, argv, take_option, &o, 0, 0, NULL);

	if (code != CLI_GO_ON)
		return code;
	return down(&o, &err) < 0 ? cli_fail(&err) : 0;
}

const struct cli_verb cli_verb_up = {
	.name = "up",
	.summary = "start the local engine",
	.help = UP_HELP,
	.run = run_up,
	.options = UP_OPTIONS,
	.letters = "hq",
};

const struct cli_verb cli_verb_down = {
	.name = "down",
	.summary = "stop the local engine",
	.help = DOWN_HELP,
	.run = run_down,
	.options = DOWN_OPTIONS,
	.letters = "hq",
};
