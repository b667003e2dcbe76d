/* SPDX-License-Identifier: Apache-2.0
 *
 * handshake.c - what a request that asks for a WebSocket must look like.
 */
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/upgrade.h"

#define KEY_LEN 24 /* 16 bytes in base64 */
#define GUID    "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

/* Whether a comma-separated header holds the word. */
static bool lists(const char *value, const char *word)
{
	size_t n = strlen(word);

	while (value && *value) {
		value += strspn(value, " \t,");
		if (strncasecmp(value, word, n) == 0 && strchr(" \t,", value[n]))
			return true;
		value += strcspn(value, ",");
	}
	return false;
}

/* Where a header may be repeated, each is looked at. */
static bool any_lists(const struct http_request *rq, const char *name, const char *word)
{
	for (int i = 0; i < rq->header_count; i++) {
		if (strcmp(rq->headers[i].name, name) == 0 && lists(rq->headers[i].value, word))
			return true;
	}
	return false;
}

static bool key_is_sound(const char *key)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	return key && strlen(key) == KEY_LEN && strspn(key, alphabet) == KEY_LEN - 2 &&
	       strcmp(key + KEY_LEN - 2, "==") == 0;
}

int http_upgrade_check(struct http_request *rq, struct inis_error *err)
{
	const char *version = http_header(rq, "sec-websocket-version");

	if (rq->http10 || !any_lists(rq, "connection", "upgrade") || !any_lists(rq, "upgrade", "websocket"))
		return inis_fail(err, INIS_BAD_REQUEST,
				 "this is a WebSocket: send `Connection: Upgrade` and `Upgrade: websocket`");
	if (!version || strcmp(version, "13") != 0) {
		http_add_header(rq, "Sec-WebSocket-Version", "13");
		return inis_fail(err, INIS_BAD_REQUEST, "the only WebSocket version known here is 13");
	}
	if (http_header_count(rq, "sec-websocket-key") != 1 || !key_is_sound(http_header(rq, "sec-websocket-key")))
		return inis_fail(err, INIS_BAD_REQUEST, "`Sec-WebSocket-Key` must be one, 16 bytes in base64");
	if (rq->content_length != 0)
		return inis_fail(err, INIS_BAD_REQUEST, "a request for a WebSocket has no body");
	return 0;
}

int http_upgrade_accept_key(const char *key, char out[static HTTP_ACCEPT_SIZE], struct inis_error *err)
{
	char text[KEY_LEN + sizeof(GUID)];
	unsigned char digest[EVP_MAX_MD_SIZE];
	int n = snprintf(text, sizeof(text), "%.*s%s", KEY_LEN, key, GUID);

	if (EVP_Digest(text, (size_t)n, digest, NULL, EVP_sha1(), NULL) != 1)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	EVP_EncodeBlock((unsigned char *)out, digest, 20);
	return 0;
}
