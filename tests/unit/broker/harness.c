/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.c - a broker as the supervisor starts it, and a front that talks to it.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "os/fd.h"
#include "os/path.h"

#define PATIENCE_MS 60000

int bench_group_setup(void **state)
{
	(void)state;
	/* Units outlive their broker: they become ours to reap. */
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void bench_init(struct bench *b, uint32_t pool)
{
	if (geteuid() != 0) {
		print_message("skipped: units need root\n");
		skip();
	}
	*b = (struct bench){.pool = pool, .disk_mb = 256, .broker = -1, .control = -1, .front = -1};
	snprintf(b->state_dir, sizeof(b->state_dir), "/tmp/inis-broker-test.XXXXXX");
	assert_non_null(mkdtemp(b->state_dir));
	assert_int_equal(chmod(b->state_dir, 0711), 0);
	assert_int_equal(inis_random_text(b->instance, 12, NULL), 0);
}

static int config_fd(const struct bench *b, const char *agent)
{
	static struct inis_broker_config config;
	int fd;

	memset(&config, 0, sizeof(config));
	config.magic = INIS_BROKER_CONFIG_MAGIC;
	config.size = sizeof(config);
	snprintf(config.state_dir, sizeof(config.state_dir), "%s", b->state_dir);
	snprintf(config.agent, sizeof(config.agent), "%s", agent);
	snprintf(config.instance, sizeof(config.instance), "%s", b->instance);
	config.uid_base = 0x30000000;
	config.uid_ranges = 512;
	config.pool = b->pool;
	config.disk_mb = b->disk_mb;
	fd = inis_sealed_memfd("config", &config, sizeof(config), NULL);
	assert_true(fd >= 0);
	return fd;
}

static int ranges_fd(void)
{
	int fd = open("/tmp/inis-test-uid-ranges", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

struct inis_broker_started bench_try_start(struct bench *b, const char *agent, const char *path)
{
	struct inis_broker_started started;
	cleanup_close int config = config_fd(b, agent);
	cleanup_close int lock = open(b->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int ranges = ranges_fd();
	struct pollfd ready;
	int pair[2];

	assert_int_equal(inis_packet_pair(pair, NULL), 0);
	b->broker = fork();
	assert_true(b->broker >= 0);
	if (b->broker == 0) {
		const int fds[] = {pair[1], config, lock, ranges};

		setenv("PATH", path, 1);

		if (inis_fds_place(INIS_BROKER_FD_CONTROL, fds, 4, NULL) == 0)
			execl(BROKER_PROGRAM, "inis-broker", (char *)NULL);
		_exit(127);
	}
	close(pair[1]);
	b->control = pair[0];
	ready = (struct pollfd){.fd = b->control, .events = POLLIN};
	assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
	assert_int_equal(recv(b->control, &started, sizeof(started), 0), sizeof(started));
	return started;
}

void bench_new_front(struct bench *b)
{
	struct inis_broker_msg hello;
	struct reply r;
	char byte = 0;
	int pair[2];

	close_fd(&b->front);
	assert_int_equal(inis_packet_pair(pair, NULL), 0);
	assert_int_equal(inis_packet_send(b->control, &byte, 1, &pair[1], 1, NULL), 0);
	close(pair[1]);
	b->front = pair[0];
	inis_broker_msg_init(&hello, INIS_B_HELLO, 0);
	hello.u.hello.version = INIS_BROKER_VERSION;
	hello.u.hello.struct_size = sizeof(struct inis_broker_msg);
	r = bench_ask(b, &hello);
	assert_int_equal(r.msg.code, INIS_OK);
}

void bench_start(struct bench *b)
{
	struct inis_broker_started started = bench_try_start(b, AGENT_PROGRAM, SYSTEM_PATH);

	if (started.code != INIS_OK)
		fail_msg("the broker did not start: %s", started.message);
	bench_new_front(b);
}

void bench_stop(struct bench *b, int signal)
{
	int status;

	kill(b->broker, signal);
	assert_int_equal(waitpid(b->broker, &status, 0), b->broker);
	b->broker = -1;
	close_fd(&b->control);
	close_fd(&b->front);
	if (signal == SIGTERM)
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void bench_free(struct bench *b)
{
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);

	if (b->broker > 0)
		bench_stop(b, SIGTERM);
	assert_int_equal(inis_remove_tree_at(tmp, strrchr(b->state_dir, '/') + 1, NULL), 0);
}

void bench_reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

void bench_free_without_trace(struct bench *b, const struct traces *before)
{
	struct traces after;

	bench_stop(b, SIGTERM);
	after = traces_count(b->state_dir, b->instance);
	assert_int_equal(after.cgroups, before->cgroups);
	assert_int_equal(after.loops, before->loops);
	assert_int_equal(after.processes, before->processes);
	assert_int_equal(after.files, before->files);
	assert_int_equal(after.mounts, before->mounts);
	bench_free(b);
}

uint64_t bench_send(struct bench *b, struct inis_broker_msg *msg)
{
	struct inis_error err = INIS_ERROR_INIT;

	msg->request = ++b->request;
	if (inis_packet_send(b->front, msg, sizeof(*msg), NULL, 0, &err) < 0)
		fail_msg("send: %s", err.message);
	return msg->request;
}

struct reply bench_receive(struct bench *b)
{
	struct reply r = {.fd = -1};
	struct pollfd ready = {.fd = b->front, .events = POLLIN};
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_broker_msg raw;
	size_t fds;
	ssize_t n;

	assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
	n = inis_packet_recv(b->front, &raw, sizeof(raw), &r.fd, 1, &fds, &err);
	if (n <= 0 || inis_broker_msg_check(&raw, (size_t)n, &r.msg, &err) < 0)
		fail_msg("receive: %zd %s", n, err.message);
	assert_int_equal(fds, r.msg.flags & INIS_B_HAS_FD ? 1 : 0);
	return r;
}

struct reply bench_ask(struct bench *b, struct inis_broker_msg *msg)
{
	uint64_t request = bench_send(b, msg);
	struct reply r;

	do
		r = bench_receive(b);
	while (r.msg.request == 0);
	assert_int_equal(r.msg.request, request);
	assert_int_equal(r.msg.verb, msg->verb);
	return r;
}

void create_message(struct inis_broker_msg *msg)
{
	inis_broker_msg_init(msg, INIS_B_CREATE, 0);
	assert_int_equal(session_id_new(&msg->u.create.session, NULL), 0);
	snprintf(msg->u.create.hostname, sizeof(msg->u.create.hostname), "box");
	msg->u.create.vcpus = 1;
	msg->u.create.mem_mb = 512;
	msg->u.create.pids_max = 256;
	msg->u.create.disk_mb = 256;
}

void unit_message(struct inis_broker_msg *msg, enum inis_broker_verb verb, const struct unit_id *id)
{
	inis_broker_msg_init(msg, verb, 0);
	msg->unit_id = *id;
}

struct unit_id bench_create(struct bench *b, int *agent)
{
	struct inis_broker_msg msg;
	struct reply r;

	create_message(&msg);
	r = bench_ask(b, &msg);
	if (r.msg.code != INIS_OK)
		fail_msg("create: %s", r.msg.message);
	assert_true(r.fd >= 0);
	assert_true(r.msg.u.unit.alive);
	assert_string_equal(r.msg.u.unit.session.s, msg.u.create.session.s);
	if (agent)
		*agent = r.fd;
	else
		close(r.fd);
	return r.msg.unit_id;
}

void bench_destroy(struct bench *b, const struct unit_id *id)
{
	struct inis_broker_msg msg;
	struct reply r;

	unit_message(&msg, INIS_B_DESTROY, id);
	r = bench_ask(b, &msg);
	if (r.msg.code != INIS_OK)
		fail_msg("destroy: %s", r.msg.message);
}

/* Counts the rows; the one with this id goes to *row. */
static unsigned list(struct bench *b, const struct unit_id *id, struct inis_broker_unit *row)
{
	struct inis_broker_msg msg;
	struct reply r;
	unsigned n = 0;

	inis_broker_msg_init(&msg, INIS_B_LIST, 0);
	bench_send(b, &msg);
	for (;;) {
		r = bench_receive(b);
		if (r.msg.verb != INIS_B_LIST)
			continue;
		if (!(r.msg.flags & INIS_B_MORE))
			return n;
		if (id && strcmp(r.msg.u.unit.id.s, id->s) == 0)
			*row = r.msg.u.unit;
		n++;
	}
}

unsigned bench_count(struct bench *b)
{
	return list(b, NULL, NULL);
}

struct inis_broker_unit bench_row(struct bench *b, const struct unit_id *id)
{
	struct inis_broker_unit row = {0};

	list(b, id, &row);
	return row;
}

void bench_wait_pool(struct bench *b, uint32_t ready)
{
	struct inis_broker_msg hello;
	struct reply r;

	for (int i = 0; i < PATIENCE_MS / 10; i++) {
		inis_broker_msg_init(&hello, INIS_B_HELLO, 0);
		hello.u.hello.version = INIS_BROKER_VERSION;
		hello.u.hello.struct_size = sizeof(struct inis_broker_msg);
		r = bench_ask(b, &hello);
		if (r.msg.u.hello.pool_ready >= ready)
			return;
		usleep(10000);
	}
	fail_msg("the pool did not fill");
}
