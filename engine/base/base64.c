/* SPDX-License-Identifier: Apache-2.0
 *
 * base64.c - standard base64; strict about what it takes.
 */
#include "base/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t inis_base64_encoded_size(size_t n)
{
	size_t groups = n / 3 + (n % 3 != 0);

	return groups > SIZE_MAX / 4 ? 0 : groups * 4;
}

void inis_base64_encode(struct inis_buf *out, const void *data, size_t n)
{
	const uint8_t *in = data;
	size_t size = inis_base64_encoded_size(n);
	uint8_t *to;

	if (n == 0)
		return;
	to = inis_buf_reserve(out, size ? size : SIZE_MAX);
	if (!to)
		return;
	for (; n >= 3; n -= 3, in += 3) {
		*to++ = (uint8_t)alphabet[in[0] >> 2];
		*to++ = (uint8_t)alphabet[(in[0] & 3) << 4 | in[1] >> 4];
		*to++ = (uint8_t)alphabet[(in[1] & 15) << 2 | in[2] >> 6];
		*to++ = (uint8_t)alphabet[in[2] & 63];
	}
	if (n > 0) {
		unsigned second = n == 2 ? in[1] : 0;

		*to++ = (uint8_t)alphabet[in[0] >> 2];
		*to++ = (uint8_t)alphabet[(in[0] & 3) << 4 | second >> 4];
		*to++ = n == 2 ? (uint8_t)alphabet[(second & 15) << 2] : '=';
		*to++ = '=';
	}
	out->len += size;
}

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool inis_base64_decode(struct inis_buf *out, const char *text, size_t n)
{
	size_t padding, whole, size;
	uint32_t bits = 0;
	uint8_t *to;

	if (n % 4 != 0)
		return false;
	if (n == 0)
		return true;
	padding = text[n - 1] != '=' ? 0 : text[n - 2] != '=' ? 1 : 2;
	whole = n - padding;
	size = n / 4 * 3 - padding;
	to = inis_buf_reserve(out, size);
	if (!to)
		return false;
	for (size_t i = 0; i < whole; i++) {
		int value = value_of(text[i]);

		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
		if (i % 4 == 3) {
			*to++ = (uint8_t)(bits >> 16);
			*to++ = (uint8_t)(bits >> 8);
			*to++ = (uint8_t)bits;
			bits = 0;
		}
	}
	if (padding == 2) {
		if (bits & 0xf)
			return false;
		*to++ = (uint8_t)(bits >> 4);
	} else if (padding == 1) {
		if (bits & 0x3)
			return false;
		*to++ = (uint8_t)(bits >> 10);
		*to++ = (uint8_t)(bits >> 2);
	}
	out->len += size;
	return true;
}
