/* SPDX-License-Identifier: Apache-2.0
 *
 * seal.c - secrets at rest.
 *
 * Record: version (1) | nonce (12) | wrapped data key (32) | tag (16)
 *                     | nonce (12) | ciphertext (n)        | tag (16)
 * Nonces are random; the master key wraps far fewer than 2^32 data keys, and each
 * data key is used once.
 */
#include "store/seal.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define VERSION    1
#define NONCE_SIZE 12
#define TAG_SIZE   16
#define BOX_EXTRA  (NONCE_SIZE + TAG_SIZE)
#define OVERHEAD   (1 + BOX_EXTRA + SEAL_KEY_SIZE + BOX_EXTRA)

static void free_cipher(EVP_CIPHER_CTX **ctx)
{
	EVP_CIPHER_CTX_free(*ctx);
}
#define cleanup_cipher __attribute__((cleanup(free_cipher)))
#define cleanup_key    __attribute__((cleanup(seal_key_wipe)))

void seal_key_wipe(struct seal_key *key)
{
	OPENSSL_cleanse(key, sizeof(*key));
}

/* Writes nonce | ciphertext | tag of n bytes to out. */
static int encrypt(const struct seal_key *key, const char *name, const uint8_t *plain, size_t n, uint8_t *out)
{
	cleanup_cipher EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t *nonce = out, *text = out + NONCE_SIZE, *tag = text + n;
	int len;

	if (!ctx || RAND_bytes(nonce, NONCE_SIZE) != 1 ||
	    EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key->bytes, nonce) != 1 ||
	    EVP_EncryptUpdate(ctx, NULL, &len, (const uint8_t *)name, (int)strlen(name)) != 1 ||
	    EVP_EncryptUpdate(ctx, text, &len, plain, (int)n) != 1 || EVP_EncryptFinal_ex(ctx, text + len, &len) != 1 ||
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TAG_SIZE, tag) != 1)
		return -1;
	return 0;
}

/* Opens nonce | ciphertext (n) | tag into out. */
static int decrypt(const struct seal_key *key, const char *name, const uint8_t *box, size_t n, uint8_t *out)
{
	cleanup_cipher EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	const uint8_t *nonce = box, *text = box + NONCE_SIZE, *tag = text + n;
	int len;

	if (!ctx || EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key->bytes, nonce) != 1 ||
	    EVP_DecryptUpdate(ctx, NULL, &len, (const uint8_t *)name, (int)strlen(name)) != 1 ||
	    EVP_DecryptUpdate(ctx, out, &len, text, (int)n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TAG_SIZE, (void *)tag) != 1 ||
	    EVP_DecryptFinal_ex(ctx, out + len, &len) != 1)
		return -1;
	return 0;
}

int seal_record(const struct seal_key *key, const char *name, const void *plain, size_t n, struct inis_buf *out,
		struct inis_error *err)
{
	cleanup_key struct seal_key data_key = {0};
	uint8_t *to;

	if (n > INT_MAX - OVERHEAD)
		return inis_fail(err, INIS_BAD_REQUEST, "secrets are too large");
	to = inis_buf_reserve(out, n + OVERHEAD);
	if (!to)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	to[0] = VERSION;
	if (RAND_priv_bytes(data_key.bytes, SEAL_KEY_SIZE) != 1 ||
	    encrypt(key, name, data_key.bytes, SEAL_KEY_SIZE, to + 1) < 0 ||
	    encrypt(&data_key, name, plain, n, to + 1 + SEAL_KEY_SIZE + BOX_EXTRA) < 0)
		return inis_fail(err, INIS_INTERNAL, "secrets could not be encrypted");
	out->len += n + OVERHEAD;
	return 0;
}

int seal_open(const struct seal_key *key, const char *name, const void *sealed, size_t sealed_n, char **text, size_t *n,
	      struct inis_error *err)
{
	cleanup_key struct seal_key data_key = {0};
	const uint8_t *box = sealed;
	uint8_t *plain;

	if (sealed_n < OVERHEAD || sealed_n > INT_MAX || box[0] != VERSION)
		return inis_fail(err, INIS_INTERNAL, "sealed record of %s is malformed", name);
	*n = sealed_n - OVERHEAD;
	plain = calloc(1, *n + 1);
	if (!plain)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	if (decrypt(key, name, box + 1, SEAL_KEY_SIZE, data_key.bytes) < 0 ||
	    decrypt(&data_key, name, box + 1 + SEAL_KEY_SIZE + BOX_EXTRA, *n, plain) < 0) {
		seal_free_text((char *)plain, *n);
		return inis_fail(err, INIS_INTERNAL, "sealed record of %s does not open with this master key", name);
	}
	*text = (char *)plain;
	return 0;
}

void seal_free_text(char *text, size_t n)
{
	if (text)
		OPENSSL_cleanse(text, n);
	free(text);
}
