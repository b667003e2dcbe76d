/* SPDX-License-Identifier: Apache-2.0
 *
 * utf8.c - strict UTF-8.
 */
#include "http/utf8.h"

/*
 * Length of the sequence that a lead byte opens and the range of its second byte,
 * which is where overlong forms, surrogates and too high code points show.
 */
static size_t sequence(unsigned char lead, unsigned char *low, unsigned char *high)
{
	*low = 0x80;
	*high = 0xbf;
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef) {
		*low = lead == 0xe0 ? 0xa0 : 0x80;
		*high = lead == 0xed ? 0x9f : 0xbf;
		return 3;
	}
	if (lead >= 0xf0 && lead <= 0xf4) {
		*low = lead == 0xf0 ? 0x90 : 0x80;
		*high = lead == 0xf4 ? 0x8f : 0xbf;
		return 4;
	}
	return 0;
}

size_t http_utf8_prefix(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t at = 0;

	while (at < n) {
		unsigned char low, high;
		size_t len = sequence(s[at], &low, &high);

		if (len == 0 || len > n - at)
			return at;
		if (len > 1 && (s[at + 1] < low || s[at + 1] > high))
			return at;
		for (size_t i = 2; i < len; i++) {
			if ((s[at + i] & 0xc0) != 0x80)
				return at;
		}
		at += len;
	}
	return at;
}
