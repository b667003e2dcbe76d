/* SPDX-License-Identifier: Apache-2.0
 *
 * cli_sse.c - an event stream gives the same events whole and cut in two.
 */
#include "cli/sse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int record(void *user, const char *event, const char *data, size_t length)
{
	inis_buf_puts(user, event);
	inis_buf_append(user, "=", 1);
	inis_buf_append(user, data, length);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inis_buf whole = INIS_BUF_INIT(0), pieces = INIS_BUF_INIT(0);
	struct cli_sse one = CLI_SSE_INIT(record, &whole), two = CLI_SSE_INIT(record, &pieces);
	size_t cut = size ? data[0] % size : 0;

	cli_sse_feed(&one, (const char *)data, size);
	cli_sse_feed(&two, (const char *)data, cut);
	cli_sse_feed(&two, (const char *)data + cut, size - cut);
	if (whole.len != pieces.len || (whole.len > 0 && memcmp(whole.data, pieces.data, whole.len) != 0))
		abort();
	cli_sse_free(&one);
	cli_sse_free(&two);
	inis_buf_free(&whole);
	inis_buf_free(&pieces);
	return 0;
}
