/* SPDX-License-Identifier: Apache-2.0
 *
 * base64.c - what decodes encodes back to the same text.
 */
#include "base/base64.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inis_buf bytes = INIS_BUF_INIT(0), text = INIS_BUF_INIT(0);

	if (inis_base64_decode(&bytes, (const char *)data, size)) {
		inis_base64_encode(&text, bytes.data, bytes.len);
		if (text.len != size || (size > 0 && memcmp(text.data, data, size) != 0))
			abort();
	}
	inis_buf_free(&bytes);
	inis_buf_free(&text);
	return 0;
}
