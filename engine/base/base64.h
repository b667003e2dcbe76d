/* SPDX-License-Identifier: Apache-2.0
 *
 * base64.h - standard base64 (RFC 4648, padded, no line breaks).
 */
#ifndef INIS_BASE_BASE64_H
#define INIS_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Characters that n bytes become, without a NUL; 0 when that does not fit a size_t. */
size_t inis_base64_encoded_size(size_t n);

/* Appends the encoding of n bytes to out. */
void inis_base64_encode(struct inis_buf *out, const void *data, size_t n);

/*
 * Appends the decoding of n characters to out. False when the text is not canonical
 * base64 (foreign characters, missing padding, leftover bits); out is then unspecified.
 */
bool inis_base64_decode(struct inis_buf *out, const char *text, size_t n);

#endif
