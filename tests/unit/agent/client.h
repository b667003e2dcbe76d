/* SPDX-License-Identifier: Apache-2.0
 *
 * client.h - a plain client of the agent for tests: blocking, and it checks what it reads.
 */
#ifndef TEST_AGENT_CLIENT_H
#define TEST_AGENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "unit.h"
#include "wire/agent_proto.h"

struct client {
	int sock;
	uint32_t last_channel;
	struct inis_buf in;
	size_t consumed; /* of in: the frame handed out last */
};

/* Connected, HELLO done. */
void client_open(struct client *c, const struct unit *u);
/* As client_open, and RECONNECT with no entries. */
void client_start(struct client *c, const struct unit *u);
void client_close(struct client *c);

uint32_t client_channel(struct client *c);
void client_send(struct client *c, uint32_t channel, enum inis_frame_type type, uint16_t flags, const void *payload,
		 size_t n);
void client_send_buf(struct client *c, uint32_t channel, enum inis_frame_type type, struct inis_buf *b);
void client_send_stream(struct client *c, uint32_t channel, uint16_t flags, uint64_t offset, const void *data,
			size_t n);
void client_ack(struct client *c, uint32_t channel, uint64_t out, uint64_t err);
void client_release(struct client *c, uint32_t channel);

/* The next frame; false when the connection ended. Fails the test when nothing comes for long. */
bool client_next(struct client *c, struct inis_frame *f);
/* The next frame, of this channel and type. */
void client_expect(struct client *c, uint32_t channel, enum inis_frame_type type, struct inis_frame *f);
/* The next frame, an ERROR with this code on the channel. */
void client_expect_error(struct client *c, uint32_t channel, enum inis_code code, const char *text);

/* What came of a command. */
struct outcome {
	struct inis_buf out;
	struct inis_buf err;
	struct inis_exited exited;
};
void outcome_free(struct outcome *o);
const char *outcome_out(struct outcome *o);
const char *outcome_err(struct outcome *o);

/* A request for `sh -c script`; change it, then client_exec_start(). */
struct inis_exec client_sh(const char *script, struct inis_str argv[3]);
uint32_t client_exec_start(struct client *c, struct inis_exec *m);
/* Reads to EXITED, acknowledging, and releases. */
void client_exec_finish(struct client *c, uint32_t channel, struct outcome *o);
/* As client_exec_finish, when the first bytes of stdout were read already. */
void client_exec_finish_from(struct client *c, uint32_t channel, uint64_t out, struct outcome *o);
/* Both, for a script. */
void client_run(struct client *c, const char *script, struct outcome *o);
/* Runs a script by the client of the group, which must exit with 0. */
void client_succeed(const char *script);
/* Runs a script by the client of the group, whose stdout must be this; NULL: anything. */
void client_expect_output(const char *script, const char *out);
/* Appends what a frame carries to the output before it: without a gap, without an overlap. */
void client_take(struct inis_buf *to, uint64_t base, const struct inis_frame *f);

struct inis_str str(const char *s);

/*
 * For the end of main(): runs the tests in a unit made for them, the second with a connection open all the while. 77
 * where no unit can be made. flags are INIS_UNIT_*.
 */
#define run_in_unit(tests_, flags_) \
	(unit_wanted(flags_) ? cmocka_run_group_tests(tests_, unit_set_up, unit_tear_down) : 77)
#define run_with_client(tests_, flags_) \
	(unit_wanted(flags_) ? cmocka_run_group_tests(tests_, client_set_up, client_tear_down) : 77)

extern struct unit unit;
extern struct client client;

bool unit_wanted(uint32_t flags);
int unit_set_up(void **state);
int unit_tear_down(void **state);
int client_set_up(void **state);
int client_tear_down(void **state);

#endif
