/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.c - little-endian messages.
 */
#include "base/pack.h"

#include <stdlib.h>
#include <string.h>

static void pack_le(struct inis_buf *b, uint64_t v, unsigned n)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < n; i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	inis_buf_append(b, bytes, n);
}

void inis_pack_u8(struct inis_buf *b, uint8_t v)
{
	pack_le(b, v, 1);
}

void inis_pack_u16(struct inis_buf *b, uint16_t v)
{
	pack_le(b, v, 2);
}

void inis_pack_u32(struct inis_buf *b, uint32_t v)
{
	pack_le(b, v, 4);
}

void inis_pack_u64(struct inis_buf *b, uint64_t v)
{
	pack_le(b, v, 8);
}

void inis_pack_bytes(struct inis_buf *b, const void *data, size_t n)
{
	if (n > UINT32_MAX) {
		b->failed = true;
		return;
	}
	pack_le(b, n, 4);
	inis_buf_append(b, data, n);
}

void inis_pack_cstr(struct inis_buf *b, const char *s)
{
	inis_pack_bytes(b, s, s ? strlen(s) : 0);
}

void inis_unpack_init(struct inis_unpack *u, const void *data, size_t n)
{
	*u = (struct inis_unpack){.at = data, .left = n};
}

static const uint8_t *take(struct inis_unpack *u, size_t n)
{
	const uint8_t *at = u->at;

	if (u->failed || n > u->left) {
		u->failed = true;
		return NULL;
	}
	u->left -= n;
	if (n)
		u->at += n;
	return at;
}

static uint64_t unpack_le(struct inis_unpack *u, unsigned n)
{
	const uint8_t *at = take(u, n);
	uint64_t v = 0;

	if (!at)
		return 0;
	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)at[i] << (8 * i);
	return v;
}

uint8_t inis_unpack_u8(struct inis_unpack *u)
{
	return (uint8_t)unpack_le(u, 1);
}

uint16_t inis_unpack_u16(struct inis_unpack *u)
{
	return (uint16_t)unpack_le(u, 2);
}

uint32_t inis_unpack_u32(struct inis_unpack *u)
{
	return (uint32_t)unpack_le(u, 4);
}

uint64_t inis_unpack_u64(struct inis_unpack *u)
{
	return unpack_le(u, 8);
}

struct inis_str inis_unpack_bytes(struct inis_unpack *u)
{
	uint32_t n = inis_unpack_u32(u);
	const uint8_t *at = take(u, n);

	if (u->failed)
		return (struct inis_str){"", 0};
	return (struct inis_str){at ? (const char *)at : "", n};
}

struct inis_str inis_unpack_str(struct inis_unpack *u)
{
	struct inis_str s = inis_unpack_bytes(u);

	if (s.len && memchr(s.s, '\0', s.len)) {
		u->failed = true;
		return (struct inis_str){"", 0};
	}
	return s;
}

void inis_unpack_cstr(struct inis_unpack *u, char *buf, size_t size)
{
	struct inis_str s = inis_unpack_str(u);

	if (s.len >= size) {
		u->failed = true;
		s.len = 0;
	}
	if (s.len)
		memcpy(buf, s.s, s.len);
	buf[s.len] = '\0';
}

bool inis_unpack_ok(const struct inis_unpack *u)
{
	return !u->failed && u->left == 0;
}

char *inis_str_dup(struct inis_str s)
{
	char *copy = malloc(s.len + 1);

	if (!copy)
		return NULL;
	if (s.len)
		memcpy(copy, s.s, s.len);
	copy[s.len] = '\0';
	return copy;
}

bool inis_str_eq(struct inis_str a, const char *b)
{
	return strlen(b) == a.len && (a.len == 0 || memcmp(a.s, b, a.len) == 0);
}
