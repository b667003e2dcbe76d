/* SPDX-License-Identifier: Apache-2.0
 *
 * tree_digest.c - walks a tree and hashes what it is.
 *
 * Each entry is a header of fixed size, then name and payload with their lengths in the header: no two different
 * trees give the same bytes. Directories are closed by an empty header.
 */
#include "template/tree_digest.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"

#define DEPTH_MAX  128
#define CHUNK      (256u << 10)
#define CAPS_MAX   64
#define CAPABILITY "security.capability"

struct walk {
	enum inis_tree_digest_kind kind;
	EVP_MD_CTX *hash;
	struct inis_tree_digest *out;
	uint8_t *chunk;
};

/* Little-endian. */
struct header {
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
	uint32_t name_length;
	uint64_t payload; /* size of a file, length of a link's target, number of a device */
	uint64_t changed_s; /* INDEX, regular files */
	uint64_t changed_ns;
};

static void add(struct walk *w, const void *data, size_t n)
{
	EVP_DigestUpdate(w->hash, data, n);
}

static void add_header(struct walk *w, const struct stat *st, size_t name_length, uint64_t payload)
{
	bool times = w->kind == INIS_TREE_INDEX && S_ISREG(st->st_mode);
	const struct header h = {
		.mode = htole32(st->st_mode),
		.uid = htole32(st->st_uid),
		.gid = htole32(st->st_gid),
		.name_length = htole32((uint32_t)name_length),
		.payload = htole64(payload),
		.changed_s = times ? htole64((uint64_t)st->st_mtim.tv_sec) : 0,
		.changed_ns = times ? htole64((uint64_t)st->st_mtim.tv_nsec) : 0,
	};

	add(w, &h, sizeof(h));
}

static void add_entry(struct walk *w, const struct stat *st, const char *name, uint64_t payload)
{
	add_header(w, st, strlen(name), payload);
	add(w, name, strlen(name));
	w->out->entries++;
}

static int add_link(struct walk *w, int dir, const char *name, const struct stat *st, struct inis_error *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n < 0)
		return inis_fail_errno(err, "read link %s", name);
	add_entry(w, st, name, (uint64_t)n);
	add(w, target, (size_t)n);
	return 0;
}

static int add_bytes(struct walk *w, int fd, const char *name, uint64_t size, struct inis_error *err)
{
	uint64_t left = size;
	ssize_t n;

	while ((n = read(fd, w->chunk, CHUNK)) > 0 && (uint64_t)n <= left) {
		add(w, w->chunk, (size_t)n);
		left -= (uint64_t)n;
	}
	if (n < 0)
		return inis_fail_errno(err, "read %s", name);
	if (n > 0 || left > 0)
		return inis_fail(err, INIS_CONFLICT, "%s changed while being read", name);
	return 0;
}

static int add_file(struct walk *w, int dir, const char *name, const struct stat *st, struct inis_error *err)
{
	cleanup_close int fd = -1;
	uint8_t caps[CAPS_MAX];
	uint64_t length;
	ssize_t n;

	add_entry(w, st, name, (uint64_t)st->st_size);
	w->out->bytes += (uint64_t)st->st_size;
	if (w->kind == INIS_TREE_INDEX)
		return 0;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return inis_fail_errno(err, "open %s", name);
	if (add_bytes(w, fd, name, (uint64_t)st->st_size, err) < 0)
		return -1;
	n = fgetxattr(fd, CAPABILITY, caps, sizeof(caps));
	if (n < 0 && errno != ENODATA && errno != ENOTSUP)
		return inis_fail_errno(err, "capabilities of %s", name);
	length = n > 0 ? htole64((uint64_t)n) : 0;
	add(w, &length, sizeof(length));
	add(w, caps, n > 0 ? (size_t)n : 0);
	return 0;
}

static int add_dir(struct walk *w, int dir, const char *name, const struct stat *st, int depth, struct inis_error *err);

static int add_any(struct walk *w, int dir, const char *name, int depth, struct inis_error *err)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return inis_fail_errno(err, "look at %s", name);
	if (S_ISDIR(st.st_mode))
		return add_dir(w, dir, name, &st, depth + 1, err);
	if (S_ISREG(st.st_mode))
		return add_file(w, dir, name, &st, err);
	if (S_ISLNK(st.st_mode))
		return add_link(w, dir, name, &st, err);
	add_entry(w, &st, name, (uint64_t)st.st_rdev);
	return 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *e)
{
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static int add_dir(struct walk *w, int dir, const char *name, const struct stat *st, int depth, struct inis_error *err)
{
	static const struct stat end;
	cleanup_close int own = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct dirent **entries = NULL;
	int rc = 0;
	int n;

	if (depth > DEPTH_MAX)
		return inis_fail(err, INIS_BAD_REQUEST, "directories are nested deeper than %d", DEPTH_MAX);
	n = own < 0 ? -1 : scandirat(own, ".", &entries, no_dots, by_bytes);
	if (n < 0)
		return inis_fail_errno(err, "list %s", name);
	add_entry(w, st, name, 0);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = add_any(w, own, entries[i]->d_name, depth, err);
		free(entries[i]);
	}
	free(entries);
	add_header(w, &end, 0, 0);
	return rc;
}

static int finish(struct walk *w, struct inis_error *err)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (!EVP_DigestFinal_ex(w->hash, digest, &n))
		return inis_fail(err, INIS_INTERNAL, "SHA-256 cannot be computed");
	for (unsigned i = 0; i < n; i++)
		snprintf(w->out->hex + (size_t)2 * i, 3, "%02x", digest[i]);
	return 0;
}

int inis_tree_digest(int dir, enum inis_tree_digest_kind kind, struct inis_tree_digest *out, struct inis_error *err)
{
	cleanup_free uint8_t *chunk = malloc(CHUNK);
	struct walk w = {.kind = kind, .hash = EVP_MD_CTX_new(), .out = out, .chunk = chunk};
	struct stat st;
	int rc = -1;

	*out = (struct inis_tree_digest){.hex = ""};
	if (!chunk || !w.hash || !EVP_DigestInit_ex(w.hash, EVP_sha256(), NULL))
		inis_fail(err, INIS_UNAVAILABLE, "SHA-256 cannot be computed");
	else if (fstat(dir, &st) < 0)
		inis_fail_errno(err, "look at a tree");
	else if (add_dir(&w, dir, ".", &st, 0, err) == 0)
		rc = finish(&w, err);
	EVP_MD_CTX_free(w.hash);
	return rc;
}
