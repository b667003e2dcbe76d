/* SPDX-License-Identifier: Apache-2.0
 *
 * embedded.c - finds the embedded engine of a state directory, or starts it.
 *
 * DOC: How it works
 *
 * The engine describes itself in STATE_DIR/engine.json. That file outlives an
 * engine that was killed, so it counts only when a process with that id and
 * start time exists and answers its health check. Starting happens under a lock
 * on STATE_DIR/start.lock and after a second look: of ten programs that start
 * at once, one starts the engine and nine find it.
 */
#include "cli/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/client.h"
#include "os/proc.h"

#define LOCK_WAIT_MS 60000
#define HEALTH_MS    3000L

static char *read_key(const char *path)
{
	cleanup_file FILE *file = fopen(path, "re");
	char line[256];

	if (!file || !fgets(line, sizeof(line), file))
		return NULL;
	line[strcspn(line, "\r\n")] = '\0';
	return line[0] ? strdup(line) : NULL;
}

static size_t discard(char *data, size_t size, size_t count, void *user)
{
	(void)data;
	(void)user;
	return size * count;
}

static bool answers(const struct cli_target *target)
{
	struct cli_client client = {*target};
	cleanup_call struct cli_call call = CLI_CALL_INIT;
	struct inis_error ignored;
	long status = 0;

	if (cli_call_begin(&call, &client, "GET", "/v1/healthz", NULL, &ignored) < 0)
		return false;
	curl_easy_setopt(call.easy, CURLOPT_WRITEFUNCTION, discard);
	curl_easy_setopt(call.easy, CURLOPT_TIMEOUT_MS, HEALTH_MS);
	if (curl_easy_perform(call.easy) != CURLE_OK)
		return false;
	curl_easy_getinfo(call.easy, CURLINFO_RESPONSE_CODE, &status);
	return status == 200;
}

/* engine.json, when its process lives; the caller's. NULL: there is none. */
static json_t *read_info(const char *state_dir, pid_t *pid)
{
	cleanup_free char *path = NULL;
	json_int_t id, start_time;
	json_t *info;

	if (asprintf(&path, "%s/engine.json", state_dir) < 0) {
		path = NULL;
		return NULL;
	}
	info = json_load_file(path, 0, NULL);
	if (json_unpack(info, "{s:I, s:I}", "pid", &id, "start_time", &start_time) < 0 || start_time <= 0 ||
	    inis_start_time((pid_t)id) != (uint64_t)start_time) {
		json_decref(info);
		return NULL;
	}
	*pid = (pid_t)id;
	return info;
}

pid_t cli_embedded_pid(const char *state_dir)
{
	pid_t pid = 0;

	json_decref(read_info(state_dir, &pid));
	return pid;
}

bool cli_embedded_alive(struct cli_target *target, const char *state_dir)
{
	const char *base_url, *key_file;
	bool alive = false;
	pid_t pid;
	json_t *info = read_info(state_dir, &pid);

	if (info && json_unpack(info, "{s:s, s:s}", "base_url", &base_url, "key_file", &key_file) == 0) {
		target->base_url = strdup(base_url);
		target->token = read_key(key_file);
		alive = target->base_url && target->token && answers(target);
		if (!alive)
			cli_target_free(target);
	}
	json_decref(info);
	return alive;
}

static int lock_start(const char *state_dir, struct inis_error *err)
{
	inis_ms deadline = inis_deadline_in(LOCK_WAIT_MS);
	cleanup_free char *path = NULL;
	cleanup_close int fd = -1;

	if (asprintf(&path, "%s/start.lock", state_dir) < 0) {
		path = NULL;
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return inis_fail_errno(err, "cannot open %s", path);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return inis_fail_errno(err, "cannot lock %s", path);
		if (inis_now_ms() >= deadline)
			return inis_fail(err, INIS_UNAVAILABLE, "another program has held %s for %d s", path,
					 LOCK_WAIT_MS / 1000);
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
	return take_fd(&fd);
}

static int find_or_start(struct cli_target *target, const char *state_dir, struct cli_embedded_start *how,
			 struct inis_error *err)
{
	cleanup_close int lock = -1;

	if (mkdir(state_dir, 0711) < 0 && errno != EEXIST)
		return inis_fail_errno(err, "cannot make the state directory %s", state_dir);
	lock = lock_start(state_dir, err);
	if (lock < 0)
		return -1;
	if (cli_embedded_alive(target, state_dir))
		return 0;
	how->started = true;
	return cli_embedded_start(target, state_dir, how, err);
}

int cli_embedded_find(struct cli_target *target, const char *state_dir, struct cli_embedded_start *how,
		      struct inis_error *err)
{
	if (geteuid() != 0)
		return inis_fail(err, INIS_FORBIDDEN,
				 "the embedded engine needs root in this version: run as root, or set INIS_BASE_URL "
				 "and INIS_API_KEY to use a server");
	if (cli_embedded_alive(target, state_dir) || find_or_start(target, state_dir, how, err) == 0)
		return 0;
	/* Whatever file was missing: to the user it means that there is no server. */
	err->code = INIS_UNAVAILABLE;
	return -1;
}
