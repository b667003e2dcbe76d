/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c - messages put together from frames.
 *
 * The common message is one frame: it is handed out where it lies.
 */
#include "agent/message.h"

#include <stdlib.h>

struct message {
	struct list node;
	uint32_t channel;
	uint16_t type;
	struct inis_buf bytes;
};

void messages_init(struct messages *m)
{
	list_init(&m->list);
}

static void drop(struct messages *m, struct message *msg)
{
	list_remove(&msg->node);
	m->count--;
	inis_buf_free(&msg->bytes);
	free(msg);
}

void messages_free(struct messages *m)
{
	list_each (at, &m->list)
		drop(m, container_of(at, struct message, node));
}

static struct message *find(struct messages *m, uint32_t channel)
{
	list_each (at, &m->list) {
		struct message *msg = container_of(at, struct message, node);

		if (msg->channel == channel)
			return msg;
	}
	return NULL;
}

static struct message *begin(struct messages *m, const struct inis_frame *f)
{
	struct message *msg = m->count < MESSAGES_MAX ? malloc(sizeof(*msg)) : NULL;

	if (!msg)
		return NULL;
	*msg = (struct message){.channel = f->channel, .type = f->type, .bytes = INIS_BUF_INIT(INIS_MESSAGE_MAX)};
	list_append(&m->list, &msg->node);
	m->count++;
	return msg;
}

int messages_add(struct messages *m, const struct inis_frame *f, const struct inis_buf **whole)
{
	struct message *msg = find(m, f->channel);

	*whole = NULL;
	if (!msg && !(f->flags & INIS_FRAME_MORE)) {
		m->whole = (struct inis_buf){.data = (uint8_t *)f->payload, .len = f->length};
		*whole = &m->whole;
		return 0;
	}
	if (!msg)
		msg = begin(m, f);
	if (!msg || msg->type != f->type)
		return -1;
	inis_buf_append(&msg->bytes, f->payload, f->length);
	if (inis_buf_failed(&msg->bytes))
		return -1;
	if (!(f->flags & INIS_FRAME_MORE))
		*whole = &msg->bytes;
	return 0;
}

void messages_done(struct messages *m, const struct inis_frame *f)
{
	struct message *msg = find(m, f->channel);

	if (msg)
		drop(m, msg);
}
