/* SPDX-License-Identifier: Apache-2.0
 *
 * encode.h - bytes of the guest as JSON strings, pure.
 */
#ifndef INIS_API_ENCODE_H
#define INIS_API_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "api/object.h"
#include "base/pack.h"

/* Most bytes of one stream in an answer. */
#define ENCODE_CAP ((size_t)4 * 1024 * 1024)

/* Puts name: text when the bytes are UTF-8, else base64 and name_encoding: "base64". */
void encode_stream(struct object *o, const char *name, const char *encoding_name, const uint8_t *data, size_t n);

/* Exact bytes as base64; NULL = no memory. */
json_t *encode_base64(const uint8_t *data, size_t n);
/* As text, U+FFFD for each maximal invalid piece; NULL = no memory. */
json_t *encode_lossy(const uint8_t *data, size_t n);

/* n without a character that a cut at the end has left incomplete. */
size_t encode_trim_end(const uint8_t *data, size_t n);
/* How many bytes at the front are the rest of a character that a cut has split (0 to 3). */
size_t encode_trim_front(const uint8_t *data, size_t n);

/* The arguments of a command as a list of texts. */
json_t *encode_argv(const struct inis_str *argv, uint32_t argc);

#endif
