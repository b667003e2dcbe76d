/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.h - a broker as the supervisor starts it, and a front that talks to it.
 */
#ifndef INIS_TESTS_BROKER_HARNESS_H
#define INIS_TESTS_BROKER_HARNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "broker/broker.h"
#include "traces.h"
#include "wire/broker_proto.h"

struct bench {
	char state_dir[64];
	char instance[INIS_INSTANCE_MAX + 1];
	uint32_t pool;
	uint32_t disk_mb;
	pid_t broker;
	int control;
	int front;
	uint64_t request;
};

/* Runs tests that need a broker: skips each, saying why, where there can be none. */
#define run_broker_tests(name_, tests_) cmocka_run_group_tests_name(name_, tests_, bench_group_setup, NULL)
int bench_group_setup(void **state);

/* A fresh state directory below /tmp and an instance name of its own; skips the test where no broker can run. */
void bench_init(struct bench *b, uint32_t pool);
/* Starts the broker and connects a front; fails the test when it does not start. */
void bench_start(struct bench *b);
/* As bench_start, but returns what the broker said; path is its PATH. */
struct inis_broker_started bench_try_start(struct bench *b, const char *agent, const char *path);
#define SYSTEM_PATH "/usr/sbin:/usr/bin:/sbin:/bin"
/* SIGTERM (in order) or SIGKILL; waits for the end. */
void bench_stop(struct bench *b, int signal);
/* Another front takes over, as after the death of the first. */
void bench_new_front(struct bench *b);
void bench_free(struct bench *b);
/* First processes of units whose broker has ended are ours to wait for. */
void bench_reap(void);
/* Stops it in order and frees it; fails when anything is there that was not before. */
void bench_free_without_trace(struct bench *b, const struct traces *before);

struct reply {
	struct inis_broker_msg msg;
	int fd; /* -1: none; the caller's */
};

uint64_t bench_send(struct bench *b, struct inis_broker_msg *msg);
/* The next packet of the broker. */
struct reply bench_receive(struct bench *b);
/* Sends and waits for its reply; events are passed over. */
struct reply bench_ask(struct bench *b, struct inis_broker_msg *msg);

/* The row of a unit, or one with an empty id. */
struct inis_broker_unit bench_row(struct bench *b, const struct unit_id *id);

void create_message(struct inis_broker_msg *msg);
void unit_message(struct inis_broker_msg *msg, enum inis_broker_verb verb, const struct unit_id *id);

/* Creates a unit; fails the test when it cannot. *agent is a connection to its agent. */
struct unit_id bench_create(struct bench *b, int *agent);
void bench_destroy(struct bench *b, const struct unit_id *id);
unsigned bench_count(struct bench *b);
/* Waits until so many blank units are ready. */
void bench_wait_pool(struct bench *b, uint32_t ready);

#endif
