/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - answers of our terminal to what is only shown again.
 */
#include "cli/replay.h"

#define ANSWER_WAIT_MS 1000

void cli_replay_begin(struct cli_replay *r)
{
	*r = (struct cli_replay){.dropping = true, .until = INIS_NEVER};
}

void cli_replay_asked(struct cli_replay *r)
{
	r->until = inis_deadline_in(ANSWER_WAIT_MS);
}

size_t cli_replay_filter(struct cli_replay *r, const uint8_t *data, size_t n)
{
	static const char answer[] = CLI_REPLAY_ANSWER;
	size_t at = 0;

	if (r->dropping && inis_now_ms() > r->until)
		r->dropping = false;
	while (r->dropping && at < n) {
		if (data[at] == (uint8_t)answer[r->matched])
			r->matched++;
		else
			r->matched = data[at] == (uint8_t)answer[0];
		at++;
		r->dropping = r->matched < sizeof(answer) - 1;
	}
	return at;
}
