/* SPDX-License-Identifier: Apache-2.0
 *
 * id.c - ids as validated types.
 */
#include "base/id.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static const char ALPHABET[] = "abcdefghijklmnopqrstuvwxyz0123456789";
#define ALPHABET_LEN 36
/* Bytes from here on would favour the first letters. */
#define UNBIASED     (256 - 256 % ALPHABET_LEN)

int inis_random_text(char *buf, unsigned n, struct inis_error *err)
{
	unsigned char pool[64];
	unsigned filled = 0;

	while (filled < n) {
		ssize_t got = getrandom(pool, sizeof(pool), 0);

		if (got < 0)
			return inis_fail_errno(err, "getrandom");
		for (ssize_t i = 0; i < got && filled < n; i++) {
			if (pool[i] < UNBIASED)
				buf[filled++] = ALPHABET[pool[i] % ALPHABET_LEN];
		}
	}
	buf[n] = '\0';
	return 0;
}

int session_id_new(struct session_id *id, struct inis_error *err)
{
	return inis_random_text(id->s, INIS_SESSION_ID_LEN, err);
}

int unit_id_new(struct unit_id *id, struct inis_error *err)
{
	return inis_random_text(id->s, INIS_UNIT_ID_LEN, err);
}

void request_id_new(struct request_id *id)
{
	static atomic_uint counter;

	memcpy(id->s, "req_", 4);
	if (inis_random_text(id->s + 4, INIS_REQUEST_ID_LEN - 4, NULL) < 0)
		snprintf(id->s, sizeof(id->s), "req_%016x", atomic_fetch_add(&counter, 1));
}

static bool parse(const char *text, char *out, size_t len)
{
	if (!text || strlen(text) != len || strspn(text, ALPHABET) != len)
		return false;
	memcpy(out, text, len + 1);
	return true;
}

bool session_id_parse(const char *text, struct session_id *id)
{
	return parse(text, id->s, INIS_SESSION_ID_LEN);
}

bool unit_id_parse(const char *text, struct unit_id *id)
{
	return parse(text, id->s, INIS_UNIT_ID_LEN);
}

bool proc_name_valid(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n;

	if (!text)
		return false;
	n = strlen(text);
	return n >= 1 && n <= INIS_PROC_NAME_MAX && strspn(text, allowed) == n && strcmp(text, ".") != 0 &&
	       strcmp(text, "..") != 0;
}
