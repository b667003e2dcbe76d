/* SPDX-License-Identifier: Apache-2.0
 *
 * peer.h - an agent's end of the connection, played by a test step by step.
 */
#ifndef INIS_TESTS_SESSION_PEER_H
#define INIS_TESTS_SESSION_PEER_H

#include "session/agent.h"

struct peer_frame {
	uint32_t channel;
	uint16_t type;
	uint16_t flags;
	struct inis_buf payload; /* good until the next frame is taken */
};

struct peer {
	uv_loop_t loop;
	struct agent *agent;
	int fd; /* our end; -1 = none */
	uint32_t epoch;
	struct inis_buf in;
	struct peer_frame frame;
	bool unreachable; /* asked for a descriptor, give none */
	unsigned connects; /* times a descriptor was asked for */
	unsigned ready;
	unsigned lost;
};

int peer_setup(void **state); /* an agent without a connection */
int peer_setup_greeted(void **state);
int peer_teardown(void **state);

/* Lets the loop do what can be done now. */
void peer_run(struct peer *p);
/* The same, after about a millisecond. */
void peer_wait(struct peer *p);

/* Takes the next frame; fails the test when it is of another type. ACK frames in between are skipped. */
const struct peer_frame *peer_expect(struct peer *p, uint16_t type);
bool peer_silent(struct peer *p); /* nothing has come */
uint64_t peer_ack_of(struct peer *p, uint32_t channel); /* takes an ACK: its offset of stdout */
/* Takes STDIN frames as far as they have come; returns their bytes. */
size_t peer_take_input(struct peer *p, uint32_t channel, bool *eof);

void peer_raw(struct peer *p, uint32_t channel, uint16_t type, uint16_t flags, const void *data, size_t n);
void peer_started(struct peer *p, uint32_t channel);
void peer_stream(struct peer *p, uint32_t channel, uint16_t type, uint64_t offset, const void *data, size_t n);
void peer_fill(struct peer *p, uint32_t channel, uint16_t type, uint64_t offset, size_t n);
void peer_exited(struct peer *p, uint32_t channel, int exit_code);
void peer_error(struct peer *p, uint32_t channel, enum inis_code code, const char *field, const char *text);
void peer_input_ack(struct peer *p, uint32_t channel, uint64_t offset, bool closed);
void peer_logs_info(struct peer *p, uint32_t channel, uint64_t out, uint64_t err);
void peer_end(struct peer *p, uint32_t channel);

/* Answers HELLO and RECONNECT with nothing to go on. */
void peer_greet(struct peer *p);
/* Answers HELLO, hands out RECONNECT. */
const struct peer_frame *peer_greet_until_reconnect(struct peer *p);
void peer_reconnected(struct peer *p, const struct inis_reconnect *entries, uint32_t count);
/* Closes our end and waits until a new connection is there. */
void peer_break(struct peer *p);
/* Greets a new connection and says that every exec is unknown. */
void peer_forget_execs(struct peer *p);
/* A new agent, greeted, in place of the old one. */
void peer_renew(struct peer *p);

#endif
