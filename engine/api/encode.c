/* SPDX-License-Identifier: Apache-2.0
 *
 * encode.c - bytes of the guest as JSON strings.
 */
#include "api/encode.h"

#include "base/base64.h"
#include "base/buf.h"
#include "http/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

json_t *encode_base64(const uint8_t *data, size_t n)
{
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);

	inis_base64_encode(&text, data, n);
	if (inis_buf_failed(&text))
		return NULL;
	return json_stringn_nocheck(text.len ? (const char *)text.data : "", text.len);
}

void encode_stream(struct object *o, const char *name, const char *encoding_name, const uint8_t *data, size_t n)
{
	if (http_utf8_valid((const char *)data, n)) {
		object_take(o, name, json_stringn_nocheck(n ? (const char *)data : "", n));
		return;
	}
	object_take(o, name, encode_base64(data, n));
	object_text(o, encoding_name, "base64");
}

/* How long a sequence that this byte opens is; 0 when none starts with it. */
static size_t announced(uint8_t lead)
{
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

/* Whether a sequence may begin so: second bytes that make overlong forms, surrogates or too high values may not. */
static int may_follow(uint8_t lead, uint8_t second)
{
	if (lead == 0xe0)
		return second >= 0xa0;
	if (lead == 0xed)
		return second <= 0x9f;
	if (lead == 0xf0)
		return second >= 0x90;
	if (lead == 0xf4)
		return second <= 0x8f;
	return 1;
}

/* Length of the longest beginning of a character at data, at least 1: what one U+FFFD stands for. */
static size_t bad_piece(const uint8_t *data, size_t n)
{
	size_t want = announced(data[0]);
	size_t i = 1;

	while (i < want && i < n && (data[i] & 0xc0) == 0x80 && (i > 1 || may_follow(data[0], data[1])))
		i++;
	return i;
}

json_t *encode_lossy(const uint8_t *data, size_t n)
{
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);
	size_t good = http_utf8_prefix((const char *)data, n);

	if (good == n)
		return json_stringn_nocheck(n ? (const char *)data : "", n);
	while (n > 0) {
		inis_buf_append(&text, data, good);
		data += good;
		n -= good;
		if (n == 0)
			break;
		inis_buf_puts(&text, REPLACEMENT);
		good = bad_piece(data, n);
		data += good;
		n -= good;
		good = http_utf8_prefix((const char *)data, n);
	}
	if (inis_buf_failed(&text))
		return NULL;
	return json_stringn_nocheck((const char *)text.data, text.len);
}

size_t encode_trim_end(const uint8_t *data, size_t n)
{
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		uint8_t byte = data[n - back];

		if ((byte & 0xc0) == 0x80)
			continue;
		return announced(byte) > back && bad_piece(data + n - back, back) == back ? n - back : n;
	}
	return n;
}

size_t encode_trim_front(const uint8_t *data, size_t n)
{
	size_t skip = 0;

	while (skip < 3 && skip < n && (data[skip] & 0xc0) == 0x80)
		skip++;
	return skip;
}

json_t *encode_argv(const struct inis_str *argv, uint32_t argc)
{
	json_t *list = json_array();
	int failed = 0;

	for (uint32_t i = 0; i < argc; i++)
		failed |= json_array_append_new(list, encode_lossy((const uint8_t *)argv[i].s, argv[i].len));
	if (!failed)
		return list;
	json_decref(list);
	return NULL;
}
