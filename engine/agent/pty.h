/* SPDX-License-Identifier: Apache-2.0
 *
 * pty.h - named terminals: they belong to the session, not to a connection.
 *
 * A terminal has an owner or none. An owner that does not read stops the program, as on any terminal; without one its
 * output only goes to the ring, from which the next owner is shown what there was. It goes away when its program has
 * ended and its last owner knows that.
 */
#ifndef INIS_AGENT_PTY_H
#define INIS_AGENT_PTY_H

#include "agent/channel.h"
#include "agent/input.h"
#include "agent/outpipe.h"
#include "agent/ring.h"
#include "agent/task.h"
#include "agent/terminal.h"

#define PTYS_MAX 16 /* of a session, running */

struct pty;

/* A client, by the channel that it attached with. It may be without one for a while: reconnect.c. */
struct owner {
	char id[INIS_PROC_NAME_MAX + 1];
	struct channel channel;
	struct pty *pty;
	struct inis_pty_info info; /* modes are written anew each time */
	uint64_t sent; /* offsets of the tape */
	uint64_t acked;
	bool exited_sent;
	struct input input;
};

struct pty {
	struct list node;
	char name[INIS_PROC_NAME_MAX + 1];
	struct task task;
	struct terminal terminal;
	uint16_t rows;
	uint16_t cols;
	struct inpipe in;
	struct outpipe out;
	struct ring ring;
	struct owner *owner; /* NULL: nobody is attached */
	struct inis_timer nudge; /* puts the size back */
	uint16_t nudged_rows; /* the size to be put back */
	struct inis_buf command; /* packed strings, for the listing */
	uint32_t argc;
	struct list waiters; /* pty_requests.c */
};

/* ---- pty.c ---- */

/* The running one of this name, or NULL. */
struct pty *pty_find(struct inis_str name);
/* Runs, and has no owner yet. The name must be good and free. */
struct pty *pty_start(const struct inis_attach *wanted, struct inis_error *err);
/* All of them, also those that have ended and whose owner has still to be told. */
extern struct list ptys;
/* Neither may be 0. */
void pty_resize(struct pty *p, uint16_t rows, uint16_t cols);
/* Makes a full-screen program draw everything again: another size for a moment. */
void pty_nudge(struct pty *p);
/* Something of its end has changed. p may be gone then. */
void pty_settle(struct pty *p);
/* Nothing more comes. */
static inline bool pty_drained(const struct pty *p)
{
	return !task_live(&p->task) && p->out.fd < 0;
}

/* ---- pty_owner.c ---- */

/* Opens the channel; belongs to nothing yet. NULL: err. */
struct owner *owner_new(uint32_t channel, const char *id, struct inis_error *err);
void owner_free(struct owner *o);
/* Takes the terminal over, from the owner that it has; says STARTED and PTY_INFO. */
void owner_take(struct owner *o, struct pty *p, uint8_t flags);
/* Output, a new size or the end is there to be sent. */
void owner_wake(struct pty *p);
/* How many bytes the program may write now. */
size_t owner_room(const struct pty *p);
/* Room for input. */
void owner_push(struct pty *p);

/* For reconnect.c. */
enum inis_resume_state pty_resume(const struct inis_reconnect *r);
void pty_go_on(const struct inis_reconnect *r); /* harmless when there is none of this id */
void ptys_forget_unattached(void);

/* ---- pty_requests.c ---- */

int pty_attach_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int pty_list_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int pty_kill_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);

void pty_waiters_answer(struct pty *p); /* it is over */

#endif
