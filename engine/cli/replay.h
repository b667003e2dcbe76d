/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.h - answers of our terminal to what is only shown again.
 *
 * Programs ask a terminal what it is, and it answers as if somebody typed. In a replay the questions are old, and their
 * answers must not be typed into whatever runs now. Behind the replay we ask something ourselves: what comes before its
 * answer is dropped. Pure but for the clock.
 */
#ifndef INIS_CLI_REPLAY_H
#define INIS_CLI_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/* Whether the terminal is well, and its answer. */
#define CLI_REPLAY_QUESTION "\x1b[5n"
#define CLI_REPLAY_ANSWER   "\x1b[0n"

struct cli_replay {
	bool dropping;
	inis_ms until; /* a terminal that does not answer must not swallow for ever */
	size_t matched; /* bytes of the answer that have come */
};

/* From now on input is dropped. */
void cli_replay_begin(struct cli_replay *r);
/* The question is being asked. */
void cli_replay_asked(struct cli_replay *r);
/* How many bytes at the front are to be dropped. */
size_t cli_replay_filter(struct cli_replay *r, const uint8_t *data, size_t n);

#endif
