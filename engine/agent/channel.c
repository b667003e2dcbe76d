/* SPDX-License-Identifier: Apache-2.0
 *
 * channel.c - the open channels by number, and whose turn it is to send.
 */
#include "agent/channel.h"

#include "agent/agent.h"

#define BUCKETS 64

static struct list table[BUCKETS];
static struct list ready = LIST_INIT(ready);
static unsigned count;

static struct list *bucket_of(uint32_t id)
{
	struct list *b = &table[id % BUCKETS];

	if (!b->next)
		list_init(b);
	return b;
}

void channel_init(struct channel *ch)
{
	*ch = (struct channel){.id = 0};
	list_init(&ch->bucket);
	list_init(&ch->ready);
}

int channel_open(struct channel *ch, uint32_t id, const struct channel_ops *ops, struct inis_error *err)
{
	if (count >= AGENT_CHANNELS_MAX)
		return inis_fail(err, INIS_UNAVAILABLE, "too many requests at once in this session");
	ch->id = id;
	ch->ops = ops;
	list_append(bucket_of(id), &ch->bucket);
	count++;
	return 0;
}

void channel_close(struct channel *ch)
{
	if (ch->id == 0)
		return;
	ch->id = 0;
	list_remove(&ch->bucket);
	list_remove(&ch->ready);
	count--;
}

struct channel *channel_find(uint32_t id)
{
	list_each (at, bucket_of(id)) {
		struct channel *ch = container_of(at, struct channel, bucket);

		if (ch->id == id)
			return ch;
	}
	return NULL;
}

void channel_ready(struct channel *ch)
{
	if (ch->id != 0 && list_empty(&ch->ready))
		list_append(&ready, &ch->ready);
}

struct channel *channel_next_ready(void)
{
	struct list *first = ready.next;

	if (list_empty(&ready))
		return NULL;
	list_remove(first);
	return container_of(first, struct channel, ready);
}

void channels_lost(void)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (table[i].next && !list_empty(&table[i])) {
			struct channel *ch = container_of(table[i].next, struct channel, bucket);

			channel_close(ch);
			ch->ops->gone(ch, CHANNEL_LOST);
		}
	}
}
