/* SPDX-License-Identifier: Apache-2.0
 *
 * hostile.c - a front that means harm: every verb there is and is not, fields at random, wrong sizes, descriptors that
 * nobody asked for.
 *
 * INIS_TEST_SEED repeats a run; the seed is printed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "chance.h"
#include "harness.h"
#include "os/fd.h"

#define MESSAGES 1500
#define PATIENCE 3000 /* rounds of 10 ms */

static unsigned descriptors_of(pid_t pid)
{
	char path[32];
	struct dirent *e;
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Mostly a message that could be one, with some bytes changed. */
static void some_message(struct inis_broker_msg *m, const struct unit_id *unit)
{
	unsigned changes = chance(4);

	if (chance(4) == 0)
		create_message(m);
	else
		unit_message(m, (enum inis_broker_verb)chance(64), unit);
	m->request = chance(8) ? chance(100000) : 0;
	if (chance(8) == 0)
		m->verb = (uint16_t)chance(65536);
	for (unsigned i = 0; i < changes; i++)
		((uint8_t *)m)[chance(chance(2) ? 64 : sizeof(*m))] = (uint8_t)chance(256);
	/* What it asks for may be made in earnest, and must not take all the time there is. */
	if (m->verb == INIS_B_CREATE && m->u.create.disk_mb > 256 && m->u.create.disk_mb <= 16u << 20)
		m->u.create.disk_mb = 256;
}

static void send_some(struct bench *b, const struct unit_id *unit)
{
	static uint8_t bytes[2 * sizeof(struct inis_broker_msg)];
	struct inis_broker_msg m;
	size_t n = chance(10) ? sizeof(m) : chance(sizeof(bytes));
	int fds[4];
	size_t n_fds = chance(6) ? 0 : chance(5);

	some_message(&m, unit);
	memcpy(bytes, &m, sizeof(m));
	for (size_t i = 0; i < n_fds; i++)
		fds[i] = open(chance(2) ? "/dev/null" : "/", O_RDONLY | O_CLOEXEC);
	/* The broker may have had enough already, or be busy. */
	inis_packet_send(b->front, bytes, n, fds, n_fds, NULL);
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
}

/* Takes the answers that have come; another front comes when the broker has dropped this one. */
static void take_answers(struct bench *b)
{
	static uint8_t raw[2 * sizeof(struct inis_broker_msg)];
	struct inis_error err;
	int fds[4];
	size_t n_fds;
	ssize_t n;

	do {
		err = (struct inis_error)INIS_ERROR_INIT;
		n_fds = 0;
		n = inis_packet_recv(b->front, raw, sizeof(raw), fds, 4, &n_fds, &err);
		for (size_t i = 0; n > 0 && i < n_fds; i++)
			close(fds[i]);
	} while (n > 0);
	if (n == 0 || (err.sys_errno != EAGAIN && err.sys_errno != EWOULDBLOCK))
		bench_new_front(b);
}

/* Of a front that follows: whatever the hostile one has made goes. */
static void destroy_all(struct bench *b)
{
	struct unit_id ids[64];
	unsigned n = 0;
	struct inis_broker_msg list;
	struct reply r;

	inis_broker_msg_init(&list, INIS_B_LIST, 0);
	bench_send(b, &list);
	do {
		r = bench_receive(b);
		if (r.msg.verb == INIS_B_LIST && (r.msg.flags & INIS_B_MORE) && n < 64)
			ids[n++] = r.msg.u.unit.id;
	} while (r.msg.verb != INIS_B_LIST || (r.msg.flags & INIS_B_MORE));
	for (unsigned i = 0; i < n; i++)
		bench_destroy(b, &ids[i]);
}

static void whatever_a_front_sends_the_broker_lives_and_keeps_nothing_of_it(void **state)
{
	struct bench b;
	struct traces traces;
	struct unit_id id;
	unsigned before;

	(void)state;
	begin_chance();
	bench_init(&b, 0);
	traces = traces_count(b.state_dir, b.instance);
	bench_start(&b);
	before = descriptors_of(b.broker);
	id = bench_create(&b, NULL);
	for (int i = 0; i < MESSAGES; i++) {
		send_some(&b, &id);
		take_answers(&b);
	}
	assert_int_equal(kill(b.broker, 0), 0);
	bench_new_front(&b);
	for (int i = 0; i < PATIENCE; i++) {
		destroy_all(&b);
		if (descriptors_of(b.broker) <= before)
			break;
		usleep(10000);
	}
	assert_true(descriptors_of(b.broker) <= before);
	id = bench_create(&b, NULL);
	bench_destroy(&b, &id);
	/* A create that was under way is over then, and what became of it is listed. */
	bench_stop(&b, SIGTERM);
	bench_start(&b);
	destroy_all(&b);
	bench_reap();
	bench_free_without_trace(&b, &traces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_a_front_sends_the_broker_lives_and_keeps_nothing_of_it),
	};

	return run_broker_tests("broker_hostile", tests);
}
