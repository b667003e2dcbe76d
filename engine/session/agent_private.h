/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_private.h - what the files agent_*.c share.
 *
 * agent.c owns the connection's life, agent_clock.c its time, agent_frames.c what arrives, agent_call.c
 * calls and their streams, agent_verbs.c the requests.
 */
#ifndef INIS_SESSION_AGENT_PRIVATE_H
#define INIS_SESSION_AGENT_PRIVATE_H

#include <sys/queue.h>

#include "base/clock.h"
#include "session/agent.h"

/* How long the agent may take for what needs no time of its own. */
#define CALL_LIMIT_MS 30000

enum agent_state {
	AGENT_DOWN, /* no connection, none wanted yet */
	AGENT_CONNECTING, /* the owner was asked, or a retry waits */
	AGENT_GREETING, /* connected; HELLO or RECONNECTED is awaited */
	AGENT_UP,
};

/* Which frames a request may be answered with. */
struct verb_rule {
	uint16_t request;
	uint16_t last; /* the frame that ends it; or ERROR */
	uint16_t info; /* frame that may come before; 0 = none */
	bool output; /* OUT */
	bool both; /* also ERR */
	bool input; /* takes STDIN */
	bool gaps; /* offsets may jump forward */
	bool runs; /* STARTED, CANCEL; goes on over a broken connection by its id */
};

struct agent_call {
	TAILQ_ENTRY(agent_call) link;
	struct agent *agent;
	const struct verb_rule *rule;
	struct agent_handler handler;
	void *ctx;
	uint32_t channel;
	unsigned busy; /* callbacks running; freed after the last */
	bool over; /* unlinked; not to be called any more */
	bool sent; /* the request went out on this connection */
	bool started;
	bool informed; /* the first info frame has come */
	bool held;
	bool resumes; /* survives a broken connection */
	bool cancelled;
	uint32_t cancel_grace_ms;
	inis_ms limit_ms; /* longest silence, or from the start if absolute; INIS_NEVER = none */
	bool absolute;
	inis_ms deadline;
	struct inis_buf request; /* kept for sending again while nothing was answered */
	struct inis_buf message; /* a message being put together */
	uint16_t message_type;
	char id[INIS_PROC_NAME_MAX + 1]; /* exec: its id on the wire */
	struct inis_logs logs; /* followed logs: to ask again; name points to id */
	/* output */
	uint64_t got[AGENT_STREAM_COUNT]; /* offset after the last byte handed over */
	uint64_t acked[AGENT_STREAM_COUNT];
	/* input: bytes from input_acked on */
	struct inis_buf input;
	bool input_open; /* the agent takes input */
	bool input_eof;
	bool input_eof_sent;
	bool input_closed;
	uint64_t input_acked;
	uint64_t input_sent;
	/* terminal: what could not be sent for want of a connection */
	uint16_t rows; /* 0: nothing */
	uint16_t cols;
	uint64_t signals; /* bit n: signal n */
};
TAILQ_HEAD(agent_calls, agent_call);

/* One descriptor's life; outlives its agent until libuv has let go. */
struct agent_conn {
	uv_pipe_t pipe;
	struct agent *agent; /* NULL: abandoned */
	struct inis_buf in;
	size_t owed; /* memory of replies that the agent has not read */
};

struct agent {
	uv_loop_t *loop;
	struct agent_owner owner;
	void *ctx;
	enum agent_state state;
	struct agent_conn *conn;
	struct agent_calls calls;
	uv_timer_t timer; /* retries, handshake and call deadlines */
	inis_ms held_at; /* when its time stopped; 0 = it runs */
	inis_ms lost_ms; /* by which its time is behind the process clock */
	inis_ms quiet_by; /* process clock: an answer to QUIESCE is awaited until then; INIS_NEVER = none */
	bool say_resumed;
	bool greeted; /* once at least */
	uint64_t features; /* of the agent that greeted last */
	inis_ms timer_at; /* of agent_now(), likewise below */
	inis_ms retry_at;
	inis_ms greet_by;
	inis_ms up_since;
	unsigned attempts;
	uint32_t epoch;
	uint32_t window;
	uint32_t last_channel;
	struct inis_buf control; /* RECONNECTED being put together */
	unsigned busy;
	bool broken; /* a write failed; handled from the timer */
	bool closed;
};

/* agent.c */
void agent_send(struct agent *a, const struct inis_buf *frames);
void agent_send_data(struct agent *a, const struct inis_buf *head, const void *data,
		     size_t n); /* one after the other */
/* What the agent makes us say as often as it likes: one that reads none of it loses its connection. */
void agent_reply(struct agent *a, const struct inis_buf *frames);
void agent_fault(struct agent *a, const char *what); /* the peer broke the protocol: drop the connection */
void agent_want(struct agent *a); /* there is something to send */
void agent_wake_at(struct agent *a, inis_ms when); /* of agent_now(); 0: soon, whatever the time does */
void agent_arm(struct agent *a); /* the timer, after the time stopped or goes on */
void agent_greeted(struct agent *a); /* RECONNECTED was understood */
void agent_enter(struct agent *a);
void agent_leave(struct agent *a); /* may free a */

/* agent_clock.c */
inis_ms agent_now(const struct agent *a);
inis_ms agent_deadline_in(const struct agent *a, inis_ms ms);
uint64_t agent_timer_ms(const struct agent *a); /* until the timer must run; UINT64_MAX / 2 and more: not */
void agent_quiet(struct agent *a); /* its answer has come, or will not */
void agent_say_resumed(struct agent *a);

/* agent_frames.c */
/* Handles whole frames at the start of data; returns the bytes used. */
size_t agent_frames(struct agent_conn *conn, const uint8_t *data, size_t n);
void agent_hello(struct agent *a);

/* agent_count.c; r NULL: without an answer */
void call_count_begin(const struct agent_call *c);
void call_count_end(const struct agent_call *c, const struct agent_result *r);

/* agent_call.c */
struct agent_call *call_new(struct agent *a, uint16_t request, const struct agent_handler *h, void *ctx,
			    struct inis_error *err);
/* Queues what call->request holds; NULL + err when it does not fit. Frees c then. */
struct agent_call *call_start(struct agent_call *c, struct inis_error *err);
void call_send(struct agent_call *c);
void call_touch(struct agent_call *c); /* a sign of life */
void call_free(struct agent_call *c);
void call_done(struct agent_call *c, const struct agent_result *r, const struct inis_error *err);
void call_fail(struct agent_call *c, enum inis_code code, const char *text);
void call_ack(struct agent_call *c, bool now);
void call_pump(struct agent_call *c); /* sends input as far as the window allows */
void call_catch_up(struct agent_call *c); /* connected again: sends what was asked for meanwhile */
void call_control(struct agent_call *c, uint16_t type, const struct inis_buf *payload);
void call_enter(struct agent_call *c);
void call_leave(struct agent_call *c);

#endif
