/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_modes.c - the modes of a terminal: output cut anywhere means the same, and what is written for a fresh terminal
 * puts it into the same modes.
 */
#include <stdlib.h>

#include "agent/modes.h"
#include "wire/agent_proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_same(const struct modes *a, const struct modes *b)
{
	if (a->changed != b->changed || a->keypad != b->keypad)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct modes whole = {0}, cut = {0}, again = {0};
	struct inis_buf written = INIS_BUF_INIT(0);

	modes_feed(&whole, data, size);
	for (size_t i = 0; i < size; i++)
		modes_feed(&cut, data + i, 1);
	expect_same(&whole, &cut);
	modes_write(&whole, &written);
	if (inis_buf_failed(&written) || written.len > INIS_PTY_MODES_MAX)
		abort();
	modes_feed(&again, written.data, written.len);
	expect_same(&whole, &again);
	inis_buf_free(&written);
	return 0;
}
