/* SPDX-License-Identifier: Apache-2.0
 *
 * seal.h - secrets at rest.
 *
 * A record is AES-256-GCM under a data key of its own, which is wrapped by the
 * master key; both carry the record's name as associated data, so that a record
 * opens only in its own row. Plaintext and keys are wiped after use.
 */
#ifndef INIS_STORE_SEAL_H
#define INIS_STORE_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define SEAL_KEY_SIZE 32

struct seal_key {
	uint8_t bytes[SEAL_KEY_SIZE];
};

/* Reads DIR/master.key. 0, or -1; not_found when there is none. */
int seal_key_load(int dir_fd, struct seal_key *key, struct inis_error *err);
/* Makes a new one, atomically and durably; fails when there is one. */
int seal_key_create(int dir_fd, struct seal_key *key, struct inis_error *err);
void seal_key_wipe(struct seal_key *key);

/* Appends the sealed form of n bytes to out. */
int seal_record(const struct seal_key *key, const char *name, const void *plain, size_t n, struct inis_buf *out,
		struct inis_error *err);
/* Opens a record; *text is malloc'ed and NUL-terminated, *n its length: free with seal_free_text(). */
int seal_open(const struct seal_key *key, const char *name, const void *sealed, size_t sealed_n, char **text, size_t *n,
	      struct inis_error *err);
void seal_free_text(char *text, size_t n);

#endif
