/* SPDX-License-Identifier: Apache-2.0
 *
 * spool.c - the logs of named processes.
 *
 * A segment's file carries its stream and its first offset in its name. One that cannot be read counts as missing.
 */
#include "agent/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/cleanup.h"

struct segment {
	struct list node;
	uint64_t start;
	uint64_t len;
};

static struct list spools = LIST_INIT(spools); /* retired ones first, the longest retired at the front */
static uint64_t total;

void spool_init(struct spool *s, const char *process, bool is_err)
{
	*s = (struct spool){.process = process, .is_err = is_err, .fd = -1};
	list_init(&s->segments);
	list_append(&spools, &s->node);
}

static void file_name(const struct spool *s, uint64_t start, char out[static INIS_SPOOL_NAME_SIZE])
{
	struct inis_spool_name n = {.is_err = s->is_err, .start = start};

	snprintf(n.process, sizeof(n.process), "%s", s->process);
	inis_spool_name_put(&n, out);
}

static struct segment *first_segment(const struct spool *s)
{
	return list_empty(&s->segments) ? NULL : container_of(s->segments.next, struct segment, node);
}

static struct segment *last_segment(const struct spool *s)
{
	return list_empty(&s->segments) ? NULL : container_of(s->segments.prev, struct segment, node);
}

static void drop(struct spool *s, struct segment *seg)
{
	char name[INIS_SPOOL_NAME_SIZE];

	if (seg == last_segment(s))
		close_fd(&s->fd);
	file_name(s, seg->start, name);
	unlinkat(agent.spool, name, 0);
	s->kept -= seg->len;
	total -= seg->len;
	list_remove(&seg->node);
	free(seg);
}

/* The next byte opens a new segment; one in which nothing is makes way for it. */
static void end_segment(struct spool *s)
{
	struct segment *seg = last_segment(s);

	close_fd(&s->fd);
	if (seg && seg->len == 0)
		drop(s, seg);
}

/* Who gives way: the longest retired, else the largest. */
static struct spool *victim(void)
{
	struct spool *largest = NULL;

	list_each (at, &spools) {
		struct spool *s = container_of(at, struct spool, node);

		if (list_empty(&s->segments))
			continue;
		if (s->retired)
			return s;
		if (!largest || s->kept > largest->kept)
			largest = s;
	}
	return largest;
}

static void make_room(struct spool *s, size_t n)
{
	struct spool *v;

	while (first_segment(s) != last_segment(s) && s->kept + n - first_segment(s)->len >= SPOOL_KEEP)
		drop(s, first_segment(s));
	while (total + n > SPOOL_TOTAL && (v = victim()) != NULL)
		drop(v, first_segment(v));
}

static bool begin_segment(struct spool *s)
{
	struct segment *seg = malloc(sizeof(*seg));
	char name[INIS_SPOOL_NAME_SIZE];

	close_fd(&s->fd);
	if (!seg)
		return false;
	file_name(s, s->end, name);
	unlinkat(agent.spool, name, 0);
	s->fd = openat(agent.spool, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->fd < 0) {
		free(seg);
		return false;
	}
	*seg = (struct segment){.start = s->end};
	list_append(&s->segments, &seg->node);
	return true;
}

/* Writes the next piece into the current or a new segment. 0: it cannot be kept. */
static size_t write_piece(struct spool *s, const uint8_t *data, size_t n)
{
	struct segment *seg = last_segment(s);
	ssize_t written;

	if (s->fd < 0 || seg->len >= SPOOL_SEGMENT) {
		if (!begin_segment(s))
			return 0;
		seg = last_segment(s);
	}
	if (n > SPOOL_SEGMENT - seg->len)
		n = (size_t)(SPOOL_SEGMENT - seg->len);
	written = write(s->fd, data, n);
	if (written <= 0) {
		end_segment(s);
		return 0;
	}
	seg->len += (uint64_t)written;
	s->kept += (uint64_t)written;
	total += (uint64_t)written;
	s->end += (uint64_t)written;
	return (size_t)written;
}

void spool_append(struct spool *s, const void *data, size_t n)
{
	const uint8_t *at = data;

	make_room(s, n);
	while (n > 0) {
		size_t written = write_piece(s, at, n);

		if (written == 0) {
			s->end += n;
			return;
		}
		at += written;
		n -= written;
	}
}

void spool_retire(struct spool *s)
{
	struct list *at;

	close_fd(&s->fd);
	s->retired = true;
	list_remove(&s->node);
	at = spools.next;
	while (at != &spools && container_of(at, struct spool, node)->retired)
		at = at->next;
	list_append(at, &s->node);
}

void spool_remove(struct spool *s)
{
	if (!s->node.next)
		return;
	while (first_segment(s))
		drop(s, first_segment(s));
	close_fd(&s->fd);
	list_remove(&s->node);
}

uint64_t spool_first(const struct spool *s)
{
	const struct segment *seg = first_segment(s);

	return seg ? seg->start : s->end;
}

static ssize_t read_segment(const struct spool *s, const struct segment *seg, uint64_t offset, void *buf, size_t max)
{
	char name[INIS_SPOOL_NAME_SIZE];
	cleanup_close int fd = -1;

	if (max > seg->start + seg->len - offset)
		max = (size_t)(seg->start + seg->len - offset);
	file_name(s, seg->start, name);
	fd = openat(agent.spool, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -1 : pread(fd, buf, max, (off_t)(offset - seg->start));
}

size_t spool_read(struct spool *s, uint64_t *offset, void *buf, size_t max)
{
	list_each (at, &s->segments) {
		struct segment *seg = container_of(at, struct segment, node);
		ssize_t n;

		if (*offset >= seg->start + seg->len)
			continue;
		if (*offset < seg->start)
			*offset = seg->start;
		n = read_segment(s, seg, *offset, buf, max);
		if (n > 0)
			return (size_t)n;
		*offset = seg->start + seg->len;
	}
	if (*offset < s->end)
		*offset = s->end;
	return 0;
}
