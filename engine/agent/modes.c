/* SPDX-License-Identifier: Apache-2.0
 *
 * modes.c - the modes that a stream of output leaves a terminal in.
 */
#include "agent/modes.h"

#include <string.h>

#define ESC 0x1b

enum stage { GROUND, ESCAPED, CONTROL, PRIVATE, OTHER };

/* In the order in which they are set again: first which screen. */
static const struct {
	uint16_t number;
	bool initial;
} MODES[] = {
	{47, false},   {1047, false}, {1049, false}, {1, false},    {5, false},    {6, false},
	{7, true},     {9, false},    {25, true},    {66, false},   {1000, false}, {1002, false},
	{1003, false}, {1004, false}, {1005, false}, {1006, false}, {1015, false}, {2004, false},
};
#define MODE_COUNT (sizeof(MODES) / sizeof(MODES[0]))

static void set(struct modes *m, uint16_t number, bool on)
{
	for (size_t i = 0; i < MODE_COUNT; i++) {
		if (MODES[i].number != number)
			continue;
		if (on == MODES[i].initial)
			m->changed &= ~(1U << i);
		else
			m->changed |= 1U << i;
	}
}

static void on_escape(struct modes *m, uint8_t c)
{
	m->stage = GROUND;
	if (c == '[') {
		m->stage = CONTROL;
	} else if (c == '=' || c == '>') {
		m->keypad = c == '=';
	} else if (c == 'c') {
		*m = (struct modes){0};
	}
}

static void on_private(struct modes *m, uint8_t c)
{
	uint16_t *param = &m->params[m->count];

	if (c >= '0' && c <= '9') {
		*param = *param > 6000 ? UINT16_MAX : (uint16_t)(*param * 10 + (c - '0'));
		return;
	}
	if (c == ';' && m->count + 1 < MODES_PARAMS_MAX) {
		m->params[++m->count] = 0;
		return;
	}
	m->stage = c >= '@' ? GROUND : OTHER;
	for (unsigned i = 0; (c == 'h' || c == 'l') && i <= m->count; i++)
		set(m, m->params[i], c == 'h');
}

static void take(struct modes *m, uint8_t c)
{
	if (c == ESC) {
		m->stage = ESCAPED;
		return;
	}
	/* Other control characters work within a sequence and do not end it. */
	if (m->stage == GROUND || c < ' ')
		return;
	if (m->stage == ESCAPED) {
		on_escape(m, c);
	} else if (m->stage == PRIVATE) {
		on_private(m, c);
	} else if (m->stage == CONTROL && c == '?') {
		m->stage = PRIVATE;
		m->count = 0;
		m->params[0] = 0;
	} else {
		m->stage = c >= '@' ? GROUND : OTHER;
	}
}

void modes_feed(struct modes *m, const void *data, size_t n)
{
	const uint8_t *at = data, *end;

	if (n == 0)
		return;
	end = at + n;
	while (at < end) {
		if (m->stage == GROUND) {
			at = memchr(at, ESC, (size_t)(end - at));
			if (!at)
				return;
		}
		take(m, *at++);
	}
}

void modes_write(const struct modes *m, struct inis_buf *out)
{
	for (size_t i = 0; i < MODE_COUNT; i++) {
		if (m->changed & (1U << i))
			inis_buf_printf(out, "\x1b[?%u%c", MODES[i].number, MODES[i].initial ? 'l' : 'h');
	}
	if (m->keypad)
		inis_buf_puts(out, "\x1b=");
}
