/* SPDX-License-Identifier: Apache-2.0
 *
 * list.h - doubly linked lists whose nodes live in their owners.
 */
#ifndef INIS_AGENT_LIST_H
#define INIS_AGENT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *prev;
	struct list *next;
};

#define LIST_INIT(name_)           \
	{                          \
		&(name_), &(name_) \
	}

#define container_of(ptr_, type_, member_) ((type_ *)(void *)((char *)(ptr_)-offsetof(type_, member_)))

static inline void list_init(struct list *l)
{
	l->prev = l->next = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_append(struct list *head, struct list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

/* Leaves the node empty: taking it out again is harmless. */
static inline void list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

/* The body may remove and free the node it is at. */
#define list_each(at_, head_)                                                           \
	for (struct list *at_ = (head_)->next, *next_##at_ = at_->next; at_ != (head_); \
	     at_ = next_##at_, next_##at_ = at_->next)

#endif
