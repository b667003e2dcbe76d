/* SPDX-License-Identifier: Apache-2.0
 *
 * process_requests.c - start, get, list and kill named processes.
 */
#include <stdlib.h>

#include "agent/channel.h"
#include "agent/link.h"
#include "agent/process.h"
#include "agent/request.h"
#include "base/cleanup.h"

/* A kill that waits for the end. */
struct killer {
	struct list node;
	struct channel channel;
	struct process *process;
	bool first; /* the one that does it; later ones only wait */
};

static void send_info(uint32_t channel, const struct process *p, uint32_t more_flags)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	process_pack_info(&b, p, more_flags);
	link_send_buf(channel, INIS_F_PROC_INFO, &b);
}

int process_start_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_exec m;
	struct process *p;

	if (inis_exec_unpack(data, n, &m) < 0)
		return request_malformed(err);
	p = process_start(&m, err);
	inis_exec_free(&m);
	if (!p)
		return -1;
	send_info(channel, p, 0);
	return 0;
}

int process_get_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_unpack u;
	struct inis_str name;
	struct process *p;

	inis_unpack_init(&u, data, n);
	name = inis_unpack_str(&u);
	if (!inis_unpack_ok(&u))
		return request_malformed(err);
	p = process_find(name, err);
	if (!p)
		return -1;
	send_info(channel, p, 0);
	return 0;
}

/* For channels on which the client sends nothing more. */
static int no_frame(struct channel *ch, const struct inis_frame *f, struct inis_error *err)
{
	(void)ch;
	(void)f;
	return request_malformed(err);
}

/* A list on its way: a long one must not fill the queue at once. */
struct lister {
	struct channel channel;
	uint64_t serial; /* of the process sent last */
};

static void lister_gone(struct channel *ch, enum channel_end how)
{
	(void)how;
	free(container_of(ch, struct lister, channel));
}

static bool lister_pump(struct channel *ch)
{
	struct lister *l = container_of(ch, struct lister, channel);
	struct process *p = process_after(l->serial);

	if (p) {
		send_info(ch->id, p, 0);
		l->serial = p->serial;
		return true;
	}
	link_send_end(ch->id, 0);
	channel_close(ch);
	free(l);
	return false;
}

static const struct channel_ops lister_ops = {no_frame, lister_pump, lister_gone};

int process_list_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	cleanup_free struct lister *l = calloc(1, sizeof(*l));

	(void)data;
	if (n != 0)
		return request_malformed(err);
	if (!l)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	channel_init(&l->channel);
	if (channel_open(&l->channel, channel, &lister_ops, err) < 0)
		return -1;
	channel_ready(&l->channel);
	take_ptr(l);
	return 0;
}

static void killer_free(struct killer *k)
{
	channel_close(&k->channel);
	list_remove(&k->node);
	free(k);
}

static bool killer_pump(struct channel *ch)
{
	(void)ch;
	return false;
}

/* The kill itself goes on. */
static void killer_gone(struct channel *ch, enum channel_end how)
{
	(void)how;
	killer_free(container_of(ch, struct killer, channel));
}

static const struct channel_ops killer_ops = {no_frame, killer_pump, killer_gone};

void process_killers_answer(struct process *p)
{
	list_each (at, &p->killers) {
		struct killer *k = container_of(at, struct killer, node);

		send_info(k->channel.id, p, k->first && p->task.killed ? INIS_EXIT_KILLED_NOW : 0);
		killer_free(k);
	}
}

static int wait_for_end(uint32_t channel, struct process *p, struct inis_error *err)
{
	struct killer *k = calloc(1, sizeof(*k));

	if (!k)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	channel_init(&k->channel);
	k->process = p;
	k->first = p->task.stage == TASK_RUNNING;
	list_append(&p->killers, &k->node);
	if (channel_open(&k->channel, channel, &killer_ops, err) < 0) {
		killer_free(k);
		return -1;
	}
	return 0;
}

int process_kill_request(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	struct inis_unpack u;
	struct inis_str name;
	struct process *p;
	uint32_t grace;

	inis_unpack_init(&u, data, n);
	name = inis_unpack_str(&u);
	grace = inis_unpack_u32(&u);
	if (!inis_unpack_ok(&u))
		return request_malformed(err);
	p = process_find(name, err);
	if (!p)
		return -1;
	if (!task_live(&p->task)) {
		send_info(channel, p, 0);
		return 0;
	}
	if (wait_for_end(channel, p, err) < 0)
		return -1;
	task_kill(&p->task, grace);
	return 0;
}
