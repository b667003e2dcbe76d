/* SPDX-License-Identifier: Apache-2.0
 *
 * server.h - the broker's side of the broker protocol: one front at a time, one driver.
 *
 * Requests of a front that is gone are finished all the same; their replies are dropped.
 */
#ifndef INIS_BROKER_SERVER_H
#define INIS_BROKER_SERVER_H

#include "driver/driver.h"
#include "os/events.h"
#include "wire/broker_proto.h"

#define SERVER_REFILL_MS    5 /* between two units made for the pool */
/* The pool is filled when there is time: not beside the first command of the session that took a unit from it. */
#define SERVER_QUIET_MS     25 /* since the last create or destroy */
#define SERVER_PATIENCE_MS  250 /* since the first of them, or since the last unit was made */
#define SERVER_RETRY_MS     1000 /* after one could not be made */
/* A front that asks faster than it listens is bounded, not trusted. */
#define SERVER_REQUESTS_MAX 4096
#define SERVER_QUEUE_MAX    16384

struct request;

/* A packet that the socket would not take yet. */
struct outgoing {
	struct inis_broker_msg msg;
	int fd; /* -1: none */
	struct outgoing *next;
};

struct server {
	struct inis_events *events;
	struct inis_driver *driver;
	int front; /* -1: nobody */
	uint64_t front_number; /* tells fronts apart */
	struct inis_watch front_watch;
	struct outgoing *queue; /* oldest first */
	struct outgoing *queue_last;
	unsigned queue_length;
	struct request *requests; /* in progress */
	unsigned request_count;
	struct inis_timer refill;
	inis_ms refill_by; /* while the timer is armed: it may be put off until then */
	bool ending; /* the pool is not filled any more */
	uint64_t host_mem_mb;
};

void server_init(struct server *s, struct inis_events *events, struct inis_driver *driver);
/* Takes over the socket of a new front; the one before is closed. */
void server_set_front(struct server *s, int sock);
/* Lets the front go. Requests in progress stay until the driver ends them. */
void server_drop_front(struct server *s);
/* Before the driver is freed: what it still ends is told to nobody. */
void server_end(struct server *s);

/* verbs.c: carries out one checked message of the front. */
void server_handle(struct server *s, const struct inis_broker_msg *msg);

/* Sends a packet, or keeps it until the socket takes it. The descriptor (or -1) is the callee's. */
void server_send(struct server *s, const struct inis_broker_msg *msg, int fd);
/* The pool may have lost a unit; puts off filling it while more is asked for. */
void server_want_refill(struct server *s);

#endif
