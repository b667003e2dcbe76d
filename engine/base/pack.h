/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.h - reading and writing little-endian messages, pure.
 *
 * The reader never reads past its end and fails for good at the first short or
 * malformed item, so a decoder reads everything and asks inis_unpack_ok() once.
 * Strings are u32 length + bytes without NUL inside; unpacked strings point into
 * the message and are not terminated.
 */
#ifndef INIS_BASE_PACK_H
#define INIS_BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A string inside a message; not NUL-terminated. */
struct inis_str {
	const char *s;
	size_t len;
};

void inis_pack_u8(struct inis_buf *b, uint8_t v);
void inis_pack_u16(struct inis_buf *b, uint16_t v);
void inis_pack_u32(struct inis_buf *b, uint32_t v);
void inis_pack_u64(struct inis_buf *b, uint64_t v);
void inis_pack_bytes(struct inis_buf *b, const void *data, size_t n); /* u32 length + bytes */
void inis_pack_cstr(struct inis_buf *b, const char *s); /* NULL packs as "" */

struct inis_unpack {
	const uint8_t *at;
	size_t left;
	bool failed;
};

void inis_unpack_init(struct inis_unpack *u, const void *data, size_t n);
uint8_t inis_unpack_u8(struct inis_unpack *u); /* 0 after a failure, likewise below */
uint16_t inis_unpack_u16(struct inis_unpack *u);
uint32_t inis_unpack_u32(struct inis_unpack *u);
uint64_t inis_unpack_u64(struct inis_unpack *u);
struct inis_str inis_unpack_bytes(struct inis_unpack *u); /* any bytes */
struct inis_str inis_unpack_str(struct inis_unpack *u); /* fails on a NUL inside */
/* As unpack_str, copied with a NUL into buf; fails when it does not fit. */
void inis_unpack_cstr(struct inis_unpack *u, char *buf, size_t size);
/* true when nothing failed and nothing is left over. */
bool inis_unpack_ok(const struct inis_unpack *u);

/* A malloc'ed NUL-terminated copy, or NULL when out of memory. */
char *inis_str_dup(struct inis_str s);
bool inis_str_eq(struct inis_str a, const char *b);

#endif
