/* SPDX-License-Identifier: Apache-2.0
 *
 * manifest.h - what is known of a template: the file "manifest" beside its root file system.
 *
 * A template is a directory <state directory>/templates/<name>-<first digits of its content digest>: root/ is the
 * file system, owned by guest ids and never written again, manifest this record, users/ holds an empty file named
 * after each unit that uses it. It gets its name when all of it is on the disk, and loses it before it is removed.
 *
 * A fixed struct in native order, since the broker reads it, and what runs as root parses no text.
 */
#ifndef INIS_TEMPLATE_MANIFEST_H
#define INIS_TEMPLATE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "template/tree_digest.h"

#define INIS_TEMPLATES_DIR  "templates" /* below the state directory */
#define INIS_TEMPLATE_ROOT  "root"
#define INIS_TEMPLATE_USERS "users"

#define INIS_TEMPLATE_TAG_DIGITS 16
#define INIS_TEMPLATE_DIR_SIZE   96

struct inis_template_manifest {
	uint32_t magic;
	uint32_t format;
	char name[64];
	char version[32]; /* day of the build and first digits of the content digest */
	char suite[32]; /* of the distribution */
	char content[INIS_DIGEST_SIZE]; /* tree digests of root/ */
	char index[INIS_DIGEST_SIZE];
	char pad_[6];
	int64_t built_at; /* wall clock, ms */
	uint64_t size_bytes;
	uint64_t entries;
	uint32_t packages;
	uint32_t reserved;
};

/* Fills in magic and what follows from the digest: version. The rest is the caller's. */
void inis_template_manifest_init(struct inis_template_manifest *m, const char *name, const char *content,
				 int64_t built_at);

/* 0 when the bytes are a sound manifest: every text ends and has only the letters it may have. */
int inis_template_manifest_check(const void *data, size_t n, struct inis_template_manifest *out,
				 struct inis_error *err);

int inis_template_manifest_write(int template_dir, const struct inis_template_manifest *m, struct inis_error *err);
int inis_template_manifest_read(int template_dir, struct inis_template_manifest *out, struct inis_error *err);

/* The directory's name. */
void inis_template_dir_name(const struct inis_template_manifest *m, char out[static INIS_TEMPLATE_DIR_SIZE]);
/* Whether an entry of the templates directory can be a template at all. */
bool inis_template_is_dir_name(const char *name);

/* Opens templates_dir/name and reads its manifest, which must be of this very directory. The descriptor or -1. */
int inis_template_open(int templates_dir, const char *name, struct inis_template_manifest *out, struct inis_error *err);

/* Compares root/ with the manifest. conflict when it is not what was built. */
int inis_template_verify(int template_dir, const struct inis_template_manifest *m, enum inis_tree_digest_kind kind,
			 struct inis_error *err);

#endif
