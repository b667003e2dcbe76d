/* SPDX-License-Identifier: Apache-2.0
 *
 * frame.c - a byte stream of frames: each parsed frame lies in the input and, written again, is the same bytes.
 */
#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inis_frame frame;
	ptrdiff_t n;

	while ((n = inis_frame_parse(data, size, &frame, NULL)) > 0) {
		struct inis_buf again = INIS_BUF_INIT(0);

		inis_frame_put(&again, frame.epoch, frame.channel, frame.type, frame.flags, frame.payload,
			       frame.length);
		if ((size_t)n > size || again.len != (size_t)n || memcmp(again.data, data, again.len) != 0)
			abort();
		inis_buf_free(&again);
		data += n;
		size -= (size_t)n;
	}
	return 0;
}
