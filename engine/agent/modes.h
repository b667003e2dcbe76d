/* SPDX-License-Identifier: Apache-2.0
 *
 * modes.h - the modes that a stream of output leaves a terminal in: the alternate screen, the mouse, application keys.
 *
 * A full-screen program sets them once and repaints only what it shows; when the beginning of its output is forgotten,
 * they must not be. Pure.
 */
#ifndef INIS_AGENT_MODES_H
#define INIS_AGENT_MODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define MODES_PARAMS_MAX 8

struct modes {
	uint32_t changed; /* bit n: the n-th known mode is not as in a fresh terminal */
	bool keypad; /* application keypad */
	/* the control sequence that has begun */
	uint8_t stage;
	uint8_t count; /* parameters before the running one */
	uint16_t params[MODES_PARAMS_MAX];
};

/* All zero is a fresh terminal. The output may be cut anywhere. */
void modes_feed(struct modes *m, const void *data, size_t n);
/* What puts a fresh terminal into them; nothing for a fresh one, never more than INIS_PTY_MODES_MAX bytes. */
void modes_write(const struct modes *m, struct inis_buf *out);

#endif
