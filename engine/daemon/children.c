/* SPDX-License-Identifier: Apache-2.0
 *
 * children.c - starting broker and front: fixed descriptors, a fresh environment, nothing else inherited.
 */
#include "daemon/children.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/wall.h"
#include "daemon/front.h"
#include "os/fd.h"
#include "os/priv.h"

#define CHILD_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int open_beside(const char *dir, const char *name, char path[static PATH_MAX], struct inis_error *err)
{
	int fd;

	if (snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
		return inis_fail(err, INIS_INTERNAL, "path of %s is too long", name);
	if (access(path, X_OK) < 0)
		return inis_fail_errno(err, "%s, which belongs beside inisd", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? inis_fail_errno(err, "open %s", path) : fd;
}

int programs_find(struct programs *p, struct inis_error *err)
{
	cleanup_close int agent = -1;
	char path[PATH_MAX];
	char dir[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

	*p = (struct programs){.self = -1, .broker = -1};
	if (n <= 0)
		return inis_fail_errno(err, "find the running program");
	dir[n] = '\0';
	*strrchr(dir, '/') = '\0';
	p->self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (p->self < 0)
		return inis_fail_errno(err, "open the running program");
	p->broker = open_beside(dir, "inis-broker", path, err);
	agent = p->broker < 0 ? -1 : open_beside(dir, "inis-agent", p->agent, err);
	return agent < 0 ? -1 : 0;
}

/* The rest of a child's life, after fork. The program is opened, so no path of it must be readable. */
static _Noreturn void become(int program, const char *name, const char *verb, int first, const int *fds, size_t n)
{
	char *const argv[] = {(char *)name, (char *)verb, NULL};
	char path[] = CHILD_PATH;
	char *const envp[] = {path, INIS_WALLS_ENTRY(), NULL};
	int placed[INIS_PASS_MAX];
	sigset_t none;

	memcpy(placed, fds, n * sizeof(int));
	placed[n] = program;
	if (inis_fds_place(first, placed, n + 1, NULL) < 0)
		_exit(126);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	fcntl(first + (int)n, F_SETFD, FD_CLOEXEC);
	fexecve(first + (int)n, argv, envp);
	_exit(127);
}

/* Standard output is the supervisor's alone: it carries the line that says where it listens. */
static void tidy_streams(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
}

static int broker_config_fd(const struct programs *p, const struct inisd_config *config, const struct state *state,
			    struct inis_error *err)
{
	/* Too large for a stack; only one is in use at a time. */
	static struct inis_broker_config b;
	enum inis_log_level level = INIS_LOG_INFO;

	inis_log_level_parse(config->log_level, &level);
	b = (struct inis_broker_config){
		.magic = INIS_BROKER_CONFIG_MAGIC,
		.size = sizeof(b),
		.uid_base = (uint32_t)config->uid_base,
		.uid_ranges = (uint32_t)config->uid_ranges,
		.pool = (uint32_t)config->pool,
		.disk_mb = (uint32_t)config->disk_mb,
		.logs_uid = config->logs_keep_hours ? (uint32_t)config->front_uid : 0,
		.log_level = (uint32_t)level,
	};
	snprintf(b.state_dir, sizeof(b.state_dir), "%s", config->state_dir);
	snprintf(b.agent, sizeof(b.agent), "%s", p->agent);
	snprintf(b.instance, sizeof(b.instance), "%s", state->instance);
	return inis_sealed_memfd("inis-broker-config", &b, sizeof(b), err);
}

pid_t broker_start(const struct programs *p, const struct inisd_config *config, const struct state *state, int *control,
		   struct inis_error *err)
{
	cleanup_close int config_fd = broker_config_fd(p, config, state, err);
	cleanup_close int theirs = -1;
	int pair[2];
	pid_t pid;

	if (config_fd < 0 || inis_packet_pair(pair, err) < 0)
		return -1;
	theirs = pair[1];
	pid = fork();
	if (pid == 0) {
		const int fds[] = {theirs, config_fd, state->broker_lock, state->ranges};

		tidy_streams();
		become(p->broker, "inis-broker", NULL, INIS_BROKER_FD_CONTROL, fds, 4);
	}
	if (pid < 0) {
		close(pair[0]);
		return inis_fail_errno(err, "start the broker");
	}
	*control = pair[0];
	return pid;
}

static void raise_file_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static _Noreturn void become_front(const struct programs *p, const struct inisd_config *config,
				   const struct state *state, const int fds[3], pid_t parent)
{
	struct rlimit no_core = {0, 0};

	tidy_streams();
	raise_file_limit();
	setrlimit(RLIMIT_CORE, &no_core);
	umask(077);
	if (chdir(state->store_dir) < 0 ||
	    (WALL("front.rights") && inis_drop_to((uid_t)config->front_uid, (gid_t)config->front_uid, NULL) < 0))
		_exit(125);
	/* After the change of ids, which clears it. A supervisor that is killed takes the front along. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(125);
	become(p->self, "inisd", "front", INIS_FRONT_FD_LISTEN, fds, 3);
}

pid_t front_start(const struct programs *p, const struct inisd_config *config, const struct state *state, int listener,
		  int broker, int front_config, struct inis_error *err)
{
	const int fds[3] = {listener, broker, front_config};
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0)
		become_front(p, config, state, fds, parent);
	return pid < 0 ? inis_fail_errno(err, "start the front") : pid;
}

static json_t *limits_json(const struct inisd_config *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:b}", "sessions_per_key_max", (json_int_t)c->sessions_per_key_max,
			 "session_requests_max", (json_int_t)c->session_requests_max, "connections_max",
			 (json_int_t)c->connections_max, "rate_limit", (json_int_t)c->rate_limit, "rate_burst",
			 (json_int_t)(c->rate_burst ? c->rate_burst : c->rate_limit), "metrics_local",
			 c->metrics_local);
}

int front_config_fd(const struct inisd_config *config, const struct state *state, const char *base_url,
		    struct inis_error *err)
{
	cleanup_buf struct inis_buf keys = INIS_BUF_INIT(4 << 20);
	cleanup_free char *text = NULL;
	json_t *root;
	int fd;

	if (state_read_keys(config->key_file, &keys, err) < 0)
		return -1;
	root = json_pack("{s:s, s:I, s:I, s:s, s:s, s:o, s:s, s:b, s:I, s:I, s:I, s:I, s:s}", "logs_dir",
			 state->logs_dir, "logs_keep_ms", (json_int_t)config->logs_keep_hours * 3600 * 1000,
			 "logs_max_bytes", (json_int_t)config->logs_max_mb << 20, "base_url", base_url, "version",
			 INIS_VERSION, "keys", json_loads(inis_buf_cstr(&keys), 0, NULL), "store_dir", state->store_dir,
			 "embedded", config->embedded, "exit_when_idle_ms", (json_int_t)config->exit_when_idle_s * 1000,
			 "sessions_max", (json_int_t)config->sessions_max, "disk_mb", (json_int_t)config->disk_mb,
			 "pids_max", (json_int_t)config->pids_max, "log_level", config->log_level);
	if (root && json_object_set_new(root, "limits", limits_json(config)) < 0) {
		json_decref(root);
		root = NULL;
	}
	text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	if (!text)
		return inis_fail(err, INIS_UNAVAILABLE, "no memory for the front's configuration");
	fd = inis_sealed_memfd("inis-front-config", text, strlen(text), err);
	explicit_bzero(text, strlen(text));
	return fd;
}
