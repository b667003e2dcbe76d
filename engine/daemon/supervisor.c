/* SPDX-License-Identifier: Apache-2.0
 *
 * supervisor.c - root, a few hundred lines, speaks to nobody outside: starts broker and front, starts them again
 * when they die, reaps what they leave behind.
 *
 * DOC: How it works
 *
 * The front cannot do without its broker and the socket to it, so when the broker dies, the front is ended too, and
 * both are started again, broker first. When the front dies alone, a new one gets a new socket, whose other end the
 * broker is given. Units are children of the broker and become ours when it dies: they run on, the next broker finds
 * them in the unit table. Starting again waits a little longer each time, up to a bound, and never gives up.
 */
#include "daemon/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "broker/broker.h"
#include "daemon/children.h"
#include "daemon/doctor.h"
#include "daemon/front.h"
#include "daemon/listener.h"
#include "os/events.h"
#include "os/fd.h"

#define WAIT_MIN_MS   100
#define WAIT_MAX_MS   5000
#define STABLE_MS     10000 /* who ran so long is not in a loop of crashes */
#define FRONT_END_MS  30000 /* from SIGTERM to SIGKILL */
#define BROKER_END_MS 30000
#define ORPHAN_END_MS 2000 /* a front without its broker */

struct child {
	const char *name;
	pid_t pid; /* 0: not running */
	inis_ms started;
	inis_ms wait; /* before the next start */
	struct inis_timer start;
	struct inis_timer kill;
};

struct supervisor {
	const struct inisd_config *config;
	struct inis_events events;
	struct state state;
	struct programs programs;
	int listener;
	int front_config;
	int control; /* to the broker */
	struct inis_watch control_watch;
	struct inis_watch signals;
	struct child broker;
	struct child front;
	char base_url[256];
	bool broker_ready;
	bool announced;
	bool ending;
	int status;
};

static struct supervisor sv;

static void end_child(struct child *c, int signal, inis_ms patience)
{
	if (c->pid > 0) {
		kill(c->pid, signal);
		inis_timer_start(&sv.events, &c->kill, patience);
	}
}

/* First the front, which ends what clients are in the middle of; the broker follows when it is gone. */
static void begin_end(int status)
{
	if (sv.ending)
		return;
	sv.ending = true;
	sv.status = status;
	inis_timer_stop(&sv.events, &sv.broker.start);
	inis_timer_stop(&sv.events, &sv.front.start);
	if (sv.front.pid > 0)
		end_child(&sv.front, SIGTERM, FRONT_END_MS);
	else if (sv.broker.pid > 0)
		end_child(&sv.broker, SIGTERM, BROKER_END_MS);
	else
		sv.events.stop = true;
}

static void start_later(struct child *c)
{
	bool stable = inis_now_ms() - c->started >= STABLE_MS;

	c->wait = stable || c->wait == 0 ? WAIT_MIN_MS : c->wait * 2 > WAIT_MAX_MS ? WAIT_MAX_MS : c->wait * 2;
	inis_timer_start(&sv.events, &c->start, c->wait);
}

static void failed_to_start(struct child *c, const struct inis_error *err)
{
	inis_log(INIS_LOG_ERROR, "cannot start", "child", c->name, "reason", err->message, NULL);
	if (!sv.announced)
		begin_end(1);
	else
		start_later(c);
}

static void announce(void)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (sv.announced)
		return;
	if (state_write_engine(&sv.state, sv.base_url, sv.config->key_file, &err) < 0) {
		failed_to_start(&sv.front, &err);
		return;
	}
	sv.announced = true;
	printf("inisd " INIS_VERSION " listening on %s\n", sv.base_url);
	fflush(stdout);
}

/* A socket pair: one end to the broker, one to the new front. */
static void start_front(void)
{
	struct inis_error err = INIS_ERROR_INIT;
	cleanup_close int to_broker = -1;
	cleanup_close int to_front = -1;
	int pair[2];
	char byte = 0;
	pid_t pid;

	if (inis_packet_pair(pair, &err) < 0) {
		failed_to_start(&sv.front, &err);
		return;
	}
	to_broker = pair[0];
	to_front = pair[1];
	if (inis_packet_send(sv.control, &byte, sizeof(byte), &to_broker, 1, &err) < 0 ||
	    (pid = front_start(&sv.programs, sv.config, &sv.state, sv.listener, to_front, sv.front_config, &err)) < 0) {
		failed_to_start(&sv.front, &err);
		return;
	}
	sv.front.pid = pid;
	sv.front.started = inis_now_ms();
	announce();
}

static void start_broker(void)
{
	struct inis_error err = INIS_ERROR_INIT;
	pid_t pid;

	pid = broker_start(&sv.programs, sv.config, &sv.state, &sv.control, &err);
	if (pid < 0) {
		failed_to_start(&sv.broker, &err);
		return;
	}
	sv.broker.pid = pid;
	sv.broker.started = inis_now_ms();
	if (inis_watch_start(&sv.events, &sv.control_watch, sv.control, EPOLLIN, &err) < 0)
		kill(pid, SIGKILL);
}

/* The broker says once whether this machine can have units. After that its socket only ends. */
static void on_control(struct inis_watch *w, uint32_t events)
{
	struct inis_broker_started started;
	struct inis_error err = INIS_ERROR_INIT;
	size_t fds;
	ssize_t n = inis_packet_recv(w->fd, &started, sizeof(started), NULL, 0, &fds, &err);

	(void)events;
	if (n < 0 && err.sys_errno == EAGAIN)
		return;
	if (n != sizeof(started)) {
		inis_watch_stop(&sv.events, w);
		return;
	}
	started.message[sizeof(started.message) - 1] = '\0';
	if (started.code == INIS_OK) {
		sv.broker_ready = true;
		if (sv.front.pid == 0 && !sv.ending)
			start_front();
		return;
	}
	if (!sv.announced) {
		inis_fail(&err, inis_code_from_wire(started.code), "%s", started.message);
		fprintf(stderr, "inisd: this machine cannot run sessions: %s\n", started.message);
		inisd_doctor_explain(sv.config, &err, stderr);
		begin_end(1);
	}
}

static void on_broker_end(void)
{
	inis_watch_stop(&sv.events, &sv.control_watch);
	close_fd(&sv.control);
	sv.broker_ready = false;
	if (sv.ending) {
		sv.events.stop = sv.front.pid == 0;
		return;
	}
	/* It cannot go on, but may still answer who waits. */
	if (sv.front.pid > 0)
		inis_timer_start(&sv.events, &sv.front.kill, ORPHAN_END_MS);
	start_later(&sv.broker);
}

static void on_front_end(int status)
{
	if (!sv.ending && WIFEXITED(status) && WEXITSTATUS(status) == INIS_FRONT_EXIT_IDLE) {
		inis_log(INIS_LOG_INFO, "idle for long enough", NULL);
		begin_end(0);
	} else if (sv.ending) {
		if (sv.broker.pid > 0)
			end_child(&sv.broker, SIGTERM, BROKER_END_MS);
		else
			sv.events.stop = true;
	} else {
		start_later(&sv.front);
	}
}

static void child_ended(struct child *c, int status)
{
	c->pid = 0;
	inis_timer_stop(&sv.events, &c->kill);
	if (!sv.ending)
		inis_log(INIS_LOG_WARN, "child ended", "child", c->name, "exit",
			 inis_log_int(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)), NULL);
	if (c == &sv.broker)
		on_broker_end();
	else
		on_front_end(status);
}

/* Units of a broker that died are reaped here too. */
static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == sv.broker.pid)
			child_ended(&sv.broker, status);
		else if (pid == sv.front.pid)
			child_ended(&sv.front, status);
	}
}

static void on_signal(struct inis_watch *w, uint32_t events)
{
	struct signalfd_siginfo info;

	(void)events;
	while (read(w->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap();
		else
			begin_end(0);
	}
}

static void on_start_broker(struct inis_timer *t)
{
	(void)t;
	start_broker();
}

static void on_start_front(struct inis_timer *t)
{
	(void)t;
	/* Else the broker's word starts it. */
	if (sv.broker_ready && sv.front.pid == 0)
		start_front();
}

static void on_kill(struct inis_timer *t)
{
	struct child *c = (struct child *)((char *)t - offsetof(struct child, kill));

	if (c->pid > 0)
		kill(c->pid, SIGKILL);
}

static int watch_signals(struct inis_error *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return inis_fail_errno(err, "signals");
	sv.signals.ready = on_signal;
	return inis_watch_start(&sv.events, &sv.signals, fd, EPOLLIN, err);
}

static int set_up(struct inis_error *err)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return inis_fail_errno(err, "become the parent of orphans");
	if (inis_events_init(&sv.events, err) < 0 || programs_find(&sv.programs, err) < 0 ||
	    state_open(&sv.state, sv.config, err) < 0)
		return -1;
	sv.listener = listener_open(sv.config, sv.base_url, sizeof(sv.base_url), err);
	if (sv.listener < 0)
		return -1;
	sv.front_config = front_config_fd(sv.config, &sv.state, sv.base_url, err);
	return sv.front_config < 0 ? -1 : watch_signals(err);
}

int inisd_serve(const struct inisd_config *config)
{
	struct inis_error err = INIS_ERROR_INIT;
	enum inis_log_level level = INIS_LOG_INFO;

	sv = (struct supervisor){.config = config, .listener = -1, .front_config = -1, .control = -1};
	sv.broker = (struct child){.name = "broker", .start.fire = on_start_broker, .kill.fire = on_kill};
	sv.front = (struct child){.name = "front", .start.fire = on_start_front, .kill.fire = on_kill};
	sv.control_watch = (struct inis_watch)INIS_WATCH_INIT(on_control);
	inis_log_level_parse(config->log_level, &level);
	inis_log_set_level(level);
	if (geteuid() != 0) {
		fputs("inisd: serve needs root: sessions are made of namespaces, mounts and cgroups\n", stderr);
		return 1;
	}
	if (set_up(&err) < 0) {
		fprintf(stderr, "inisd: %s\n", err.message);
		return 1;
	}
	start_broker();
	if (inis_events_run(&sv.events, &err) < 0)
		inis_log(INIS_LOG_ERROR, "the supervisor ends", "reason", err.message, NULL);
	if (sv.announced)
		state_remove_engine(&sv.state);
	state_close(&sv.state);
	return sv.status;
}
