/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - inis-broker: the verbs that need rights, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/wall.h"
#include "broker/broker.h"
#include "broker/server.h"
#include "driver/container/container.h"
#include "os/fd.h"

struct broker {
	struct inis_events events;
	struct server server;
	struct inis_watch control;
	struct inis_watch signals;
};

static int read_config(struct inis_broker_config *config, struct inis_error *err)
{
	ssize_t n = pread(INIS_BROKER_FD_CONFIG, config, sizeof(*config), 0);

	if (n != sizeof(*config) || config->magic != INIS_BROKER_CONFIG_MAGIC || config->size != sizeof(*config))
		return inis_fail(err, INIS_INTERNAL, "inis-broker is started by inisd, and by one of the same build");
	config->state_dir[sizeof(config->state_dir) - 1] = '\0';
	config->agent[sizeof(config->agent) - 1] = '\0';
	config->instance[sizeof(config->instance) - 1] = '\0';
	return 0;
}

/* Mounts made here are nobody else's, and /run is ours. What the machine unmounts must not stay mounted because of us. */
static int enter_own_mounts(struct inis_error *err)
{
	if (unshare(CLONE_NEWNS) < 0)
		return inis_fail_errno(err, "a mount namespace of its own");
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return inis_fail_errno(err, "keep mounts from the machine");
	if (mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
		return inis_fail_errno(err, "mount /run");
	return 0;
}

static void set_process_limits(void)
{
	struct rlimit no_core = {0, 0};
	struct rlimit files;

	/* Units inherit both. */
	if (WALL("limit.core"))
		setrlimit(RLIMIT_CORE, &no_core);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void on_control(struct inis_watch *w, uint32_t events)
{
	struct broker *b = (struct broker *)((char *)w - offsetof(struct broker, control));
	struct inis_error err = INIS_ERROR_INIT;
	char byte;
	int fd = -1;
	size_t n_fds;
	ssize_t n = inis_packet_recv(w->fd, &byte, sizeof(byte), &fd, 1, &n_fds, &err);

	(void)events;
	if (n < 0 && err.sys_errno == EAGAIN)
		return;
	if (n <= 0) {
		b->events.stop = true;
		return;
	}
	if (n_fds == 1)
		server_set_front(&b->server, fd);
}

static void on_signal(struct inis_watch *w, uint32_t events)
{
	struct broker *b = (struct broker *)((char *)w - offsetof(struct broker, signals));
	struct signalfd_siginfo info;

	(void)events;
	if (read(w->fd, &info, sizeof(info)) == sizeof(info))
		b->events.stop = true;
}

static int watch_signals(struct broker *b, struct inis_error *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return inis_fail_errno(err, "signals");
	b->signals.ready = on_signal;
	return inis_watch_start(&b->events, &b->signals, fd, EPOLLIN, err);
}

static struct inis_driver *start(struct broker *b, struct inis_error *err)
{
	static struct inis_broker_config config;
	struct inis_container_config container;

	for (int fd = INIS_BROKER_FD_CONTROL; fd <= INIS_BROKER_FD_RANGES; fd++) {
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
			inis_fail(err, INIS_INTERNAL, "inis-broker is started by inisd");
			return NULL;
		}
	}
	set_process_limits();
	if (read_config(&config, err) < 0 || inis_events_init(&b->events, err) < 0 || watch_signals(b, err) < 0 ||
	    enter_own_mounts(err) < 0)
		return NULL;
	inis_log_set_level((enum inis_log_level)config.log_level);
	container = (struct inis_container_config){
		.events = &b->events,
		.state_dir = config.state_dir,
		.instance = config.instance,
		.agent = config.agent,
		.uid_base = config.uid_base,
		.uid_ranges = config.uid_ranges,
		.pool = config.pool,
		.disk_mb = config.disk_mb,
		.logs_uid = config.logs_uid,
		.range_locks = INIS_BROKER_FD_RANGES,
	};
	return inis_container_new(&container, err);
}

static int tell_supervisor(const struct inis_error *err)
{
	struct inis_broker_started started = {.code = (uint32_t)err->code};

	snprintf(started.message, sizeof(started.message), "%s", err->message);
	return inis_packet_send(INIS_BROKER_FD_CONTROL, &started, sizeof(started), NULL, 0, NULL);
}

int main(void)
{
	static struct broker b;
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_driver *driver = start(&b, &err);

	tell_supervisor(&err);
	if (!driver) {
		inis_log(INIS_LOG_ERROR, "the broker cannot start", "reason", err.message, NULL);
		return 1;
	}
	server_init(&b.server, &b.events, driver);
	b.control.ready = on_control;
	if (inis_watch_start(&b.events, &b.control, INIS_BROKER_FD_CONTROL, EPOLLIN, &err) < 0 ||
	    inis_events_run(&b.events, &err) < 0)
		inis_log(INIS_LOG_ERROR, "the broker ends", "reason", err.message, NULL);
	server_end(&b.server);
	driver->ops->free(driver);
	return err.code == INIS_OK ? 0 : 1;
}
