/* SPDX-License-Identifier: Apache-2.0
 *
 * state.c - the state directory.
 */
#include "daemon/state.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "os/fd.h"
#include "os/path.h"
#include "os/proc.h"

#define KEY_RANDOM       43
#define KEY_MIN          16
#define KEY_MAX          256
#define INSTANCE_LEN     12
#define LOCK_PATIENCE_MS 10000
#define RANGES_DIR       "/run/inis"
#define RANGES_FILE      RANGES_DIR "/uid-ranges"

/* All missing directories of an absolute path. */
static int make_path(const char *path, struct inis_error *err)
{
	char part[PATH_MAX];

	for (size_t n = 1; path[n - 1]; n++) {
		if (path[n] != '/' && path[n] != '\0')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return inis_fail_errno(err, "make %s", part);
		if (path[n] == '\0')
			break;
	}
	return 0;
}

static int open_dir(struct state *s, const char *path, struct inis_error *err)
{
	struct stat st;

	if (make_path(path, err) < 0)
		return -1;
	s->dir = inis_open_dir(path, err);
	if (s->dir < 0)
		return -1;
	if (fstat(s->dir, &st) < 0 || fchmod(s->dir, 0711) < 0)
		return inis_fail_errno(err, "mode of %s", path);
	if (st.st_uid != 0)
		return inis_fail(err, INIS_FORBIDDEN, "%s belongs to uid %u; it must be root's", path, st.st_uid);
	return 0;
}

/* Who has the file open and locked keeps others out for as long as patience lasts. */
static int lock_file(int dir, const char *name, inis_ms patience, int *fd, struct inis_error *err)
{
	inis_ms deadline = inis_deadline_in(patience);

	*fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0)
		return inis_fail_errno(err, "open %s of the state directory", name);
	while (flock(*fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return inis_fail_errno(err, "lock %s of the state directory", name);
		if (inis_now_ms() >= deadline)
			return inis_fail(err, INIS_CONFLICT, "another inisd is serving this state directory");
		usleep(20000);
	}
	return 0;
}

static int take_locks(struct state *s, struct inis_error *err)
{
	if (lock_file(s->dir, "lock", 0, &s->lock, err) < 0)
		return -1;
	return lock_file(s->dir, "broker-lock", LOCK_PATIENCE_MS, &s->broker_lock, err);
}

static int read_instance(struct state *s, struct inis_error *err)
{
	char text[INIS_INSTANCE_MAX + 2];
	ssize_t n = inis_read_at(s->dir, "instance", text, sizeof(text), NULL);

	if (n == INSTANCE_LEN && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789") == INSTANCE_LEN) {
		memcpy(s->instance, text, INSTANCE_LEN + 1);
		return 0;
	}
	if (inis_random_text(s->instance, INSTANCE_LEN, err) < 0)
		return -1;
	return inis_put_at(s->dir, "instance", s->instance, INSTANCE_LEN, 0600, err);
}

static int make_front_dir(const struct state *s, const struct inisd_config *config, const char *name,
			  char path[static PATH_MAX + 8], struct inis_error *err)
{
	cleanup_close int dir = inis_make_dir_at(s->dir, name, 0700, err);

	if (dir < 0)
		return -1;
	if (fchown(dir, (uid_t)config->front_uid, (gid_t)config->front_uid) < 0 || fchmod(dir, 0700) < 0)
		return inis_fail_errno(err, "owner of %s/%s", config->state_dir, name);
	snprintf(path, PATH_MAX + 8, "%s/%s", config->state_dir, name);
	return 0;
}

/* The first directory on the way to an absolute path that this thread's file system ids do not get into; "" = none. */
static void find_barrier(const char *path, char barrier[static PATH_MAX])
{
	barrier[0] = '\0';
	for (size_t n = 1; path[n - 1]; n++) {
		cleanup_close int dir = -1;

		if (path[n] != '/' && path[n] != '\0')
			continue;
		snprintf(barrier, PATH_MAX, "%.*s/.", (int)n, path);
		dir = open(barrier, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 && errno == EACCES) {
			barrier[strlen(barrier) - 2] = '\0';
			return;
		}
		if (path[n] == '\0')
			break;
	}
	barrier[0] = '\0';
}

/* The front is nobody in particular: a private directory above the store would keep it from its own database. */
int state_check_reachable(const char *path, const struct inisd_config *config, struct inis_error *err)
{
	char barrier[PATH_MAX];

	setfsgid((gid_t)config->front_uid);
	setfsuid((uid_t)config->front_uid);
	find_barrier(path, barrier);
	setfsuid(0);
	setfsgid(0);
	if (barrier[0])
		return inis_fail(err, INIS_FORBIDDEN,
				 "the server's unprivileged part cannot get through %.200s: "
				 "choose another --state-dir, or chmod o+x it",
				 barrier);
	return 0;
}

static int open_ranges(struct state *s, struct inis_error *err)
{
	if (mkdir(RANGES_DIR, 0755) < 0 && errno != EEXIST)
		return inis_fail_errno(err, "make " RANGES_DIR);
	s->ranges = open(RANGES_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return s->ranges < 0 ? inis_fail_errno(err, "open " RANGES_FILE) : 0;
}

int state_open(struct state *s, const struct inisd_config *config, struct inis_error *err)
{
	*s = (struct state){.dir = -1, .lock = -1, .broker_lock = -1, .ranges = -1};
	if (open_dir(s, config->state_dir, err) < 0 || take_locks(s, err) < 0 || read_instance(s, err) < 0 ||
	    make_front_dir(s, config, "db", s->store_dir, err) < 0 ||
	    make_front_dir(s, config, "logs", s->logs_dir, err) < 0 ||
	    state_check_reachable(s->store_dir, config, err) < 0 || open_ranges(s, err) < 0) {
		state_close(s);
		return -1;
	}
	return 0;
}

void state_close(struct state *s)
{
	close_fd(&s->ranges);
	close_fd(&s->broker_lock);
	close_fd(&s->lock);
	close_fd(&s->dir);
}

/* Complete before it has its name, so that a reader never finds half a key; a file made meanwhile wins. */
static int make_key(const char *path, struct inis_error *err)
{
	char key[3 + KEY_RANDOM + 2] = "sk_";
	char temp[PATH_MAX + 16];
	cleanup_close int fd = -1;

	if (inis_random_text(key + 3, KEY_RANDOM, err) < 0)
		return -1;
	key[3 + KEY_RANDOM] = '\n';
	snprintf(temp, sizeof(temp), "%s.%d", path, (int)getpid());
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return inis_fail_errno(err, "make key file %s", temp);
	if (inis_write_all(fd, key, strlen(key), err) < 0) {
		unlink(temp);
		return -1;
	}
	if (link(temp, path) < 0 && errno != EEXIST) {
		inis_fail_errno(err, "make key file %s", path);
		unlink(temp);
		return -1;
	}
	unlink(temp);
	return 0;
}

static bool valid_key(const char *key, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (key[i] <= ' ' || key[i] > '~')
			return false;
	}
	return n >= KEY_MIN && n <= KEY_MAX;
}

static int add_keys(json_t *keys, char *text, const char *path, struct inis_error *err)
{
	char *rest = NULL;
	unsigned line = 0;

	for (char *at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
		size_t n = strlen(at);

		line++;
		while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\r' || at[n - 1] == '\t'))
			at[--n] = '\0';
		if (n == 0 || at[0] == '#')
			continue;
		if (!valid_key(at, n))
			return inis_fail(err, INIS_BAD_REQUEST,
					 "key file %s: key number %u must be %d to %d printable characters", path, line,
					 KEY_MIN, KEY_MAX);
		if (json_array_append_new(keys, json_string(at)) < 0)
			return inis_fail(err, INIS_UNAVAILABLE, "no memory for the keys");
	}
	if (json_array_size(keys) == 0)
		return inis_fail(err, INIS_BAD_REQUEST, "key file %s holds no key", path);
	return 0;
}

int state_read_keys(const char *path, struct inis_buf *json, struct inis_error *err)
{
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(1 << 20);
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	cleanup_free char *dump = NULL;
	struct stat st;
	json_t *keys;
	int rc;

	if (fd < 0 && errno == ENOENT) {
		if (make_key(path, err) < 0)
			return -1;
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return inis_fail_errno(err, "open key file %s", path);
	if (!S_ISREG(st.st_mode) || (st.st_mode & 077))
		return inis_fail(err, INIS_FORBIDDEN, "key file %s must be a file only its owner can read (chmod 600)",
				 path);
	if (inis_read_all(fd, &text, err) < 0 || !inis_buf_cstr(&text))
		return inis_fail(err, INIS_UNAVAILABLE, "read key file %s", path);
	keys = json_array();
	rc = add_keys(keys, inis_buf_cstr(&text), path, err);
	dump = rc == 0 ? json_dumps(keys, JSON_COMPACT) : NULL;
	json_decref(keys);
	if (rc < 0)
		return -1;
	if (dump)
		inis_buf_puts(json, dump);
	return dump && !inis_buf_failed(json) ? 0 : inis_fail(err, INIS_UNAVAILABLE, "no memory for the keys");
}

int state_write_engine(const struct state *s, const char *base_url, const char *key_file, struct inis_error *err)
{
	json_t *engine = json_pack("{s:i, s:I, s:s, s:s, s:s}", "pid", (int)getpid(), "start_time",
				   (json_int_t)inis_start_time(getpid()), "base_url", base_url, "key_file", key_file,
				   "version", INIS_VERSION);
	cleanup_free char *text = engine ? json_dumps(engine, JSON_COMPACT) : NULL;

	json_decref(engine);
	if (!text)
		return inis_fail(err, INIS_UNAVAILABLE, "no memory for engine.json");
	return inis_put_at(s->dir, "engine.json", text, strlen(text), 0600, err);
}

void state_remove_engine(const struct state *s)
{
	unlinkat(s->dir, "engine.json", 0);
}
