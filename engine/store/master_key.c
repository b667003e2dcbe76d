/* SPDX-License-Identifier: Apache-2.0
 *
 * master_key.c - the file that holds the master key: 64 hex digits and a newline, mode 0600.
 *
 * A new key is complete and on disk before it has its name, and never replaces
 * another: whoever loses it loses what it sealed.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/seal.h"

#define NAME      "master.key"
#define TEMP_NAME "master.key.new"
#define TEXT_SIZE (SEAL_KEY_SIZE * 2 + 1)

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse(const char text[static TEXT_SIZE], struct seal_key *key)
{
	for (int i = 0; i < SEAL_KEY_SIZE; i++) {
		int high = hex(text[2 * i]), low = hex(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -1;
		key->bytes[i] = (uint8_t)(high * 16 + low);
	}
	return text[TEXT_SIZE - 1] == '\n' ? 0 : -1;
}

int seal_key_load(int dir_fd, struct seal_key *key, struct inis_error *err)
{
	cleanup_close int fd = openat(dir_fd, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[TEXT_SIZE + 1];
	struct stat st;
	ssize_t n;
	int status = -1;

	if (fd < 0 || fstat(fd, &st) < 0)
		return inis_fail_errno(err, NAME);
	if (!S_ISREG(st.st_mode) || (st.st_mode & 077) != 0)
		return inis_fail(err, INIS_INTERNAL, NAME " must be a file that only its owner can read");
	n = read(fd, text, sizeof(text));
	if (n == TEXT_SIZE)
		status = parse(text, key);
	OPENSSL_cleanse(text, sizeof(text));
	if (status < 0)
		return inis_fail(err, INIS_INTERNAL, NAME " is damaged");
	return 0;
}

static int write_file(int dir_fd, const struct seal_key *key, struct inis_error *err)
{
	cleanup_close int fd = -1;
	char text[TEXT_SIZE + 1];
	ssize_t n;

	unlinkat(dir_fd, TEMP_NAME, 0);
	fd = openat(dir_fd, TEMP_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return inis_fail_errno(err, TEMP_NAME);
	for (int i = 0; i < SEAL_KEY_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", key->bytes[i]);
	text[TEXT_SIZE - 1] = '\n';
	n = write(fd, text, TEXT_SIZE);
	OPENSSL_cleanse(text, sizeof(text));
	if (n != TEXT_SIZE || fsync(fd) < 0) {
		if (n >= 0 && n != TEXT_SIZE)
			errno = ENOSPC;
		return inis_fail_errno(err, TEMP_NAME);
	}
	return 0;
}

int seal_key_create(int dir_fd, struct seal_key *key, struct inis_error *err)
{
	if (RAND_priv_bytes(key->bytes, SEAL_KEY_SIZE) != 1)
		return inis_fail(err, INIS_INTERNAL, "no randomness for a master key");
	if (write_file(dir_fd, key, err) < 0)
		return -1;
	if (linkat(dir_fd, TEMP_NAME, dir_fd, NAME, 0) < 0 || fsync(dir_fd) < 0)
		return inis_fail_errno(err, NAME);
	unlinkat(dir_fd, TEMP_NAME, 0);
	return 0;
}
