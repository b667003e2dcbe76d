/* SPDX-License-Identifier: Apache-2.0
 *
 * manifest.c - the record of a template.
 */
#include "template/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/path.h"

#define MAGIC         0x6c706d74u /* "tmpl" */
#define FORMAT        1
#define MANIFEST      "manifest"
#define SHORT_DIGITS  8
#define DIGEST_LENGTH (INIS_DIGEST_SIZE - 1)
#define HEX           "0123456789abcdef"
#define NAME_CHARS    "abcdefghijklmnopqrstuvwxyz0123456789._-"
#define VERSION_CHARS NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

void inis_template_manifest_init(struct inis_template_manifest *m, const char *name, const char *content,
				 int64_t built_at)
{
	time_t seconds = (time_t)(built_at / 1000);
	struct tm day;

	*m = (struct inis_template_manifest){.magic = MAGIC, .format = FORMAT, .built_at = built_at};
	gmtime_r(&seconds, &day);
	snprintf(m->name, sizeof(m->name), "%s", name);
	snprintf(m->content, sizeof(m->content), "%s", content);
	snprintf(m->version, sizeof(m->version), "%04u.%02u.%02u-%.*s", (unsigned)day.tm_year % 8100 + 1900,
		 (unsigned)day.tm_mon % 12 + 1, (unsigned)day.tm_mday % 32, SHORT_DIGITS, content);
}

static bool made_of(const char *text, size_t size, size_t least, const char *letters)
{
	size_t n = strnlen(text, size);

	return n < size && n >= least && strspn(text, letters) == n;
}

static const char *fault(const struct inis_template_manifest *m)
{
	if (m->magic != MAGIC || m->format != FORMAT)
		return "format";
	if (!made_of(m->name, sizeof(m->name), 1, NAME_CHARS) || m->name[0] == '.' || m->name[0] == '-')
		return "name";
	if (!made_of(m->version, sizeof(m->version), 1, VERSION_CHARS))
		return "version";
	if (!made_of(m->suite, sizeof(m->suite), 0, NAME_CHARS))
		return "suite";
	if (!made_of(m->content, sizeof(m->content), DIGEST_LENGTH, HEX) ||
	    !made_of(m->index, sizeof(m->index), DIGEST_LENGTH, HEX))
		return "digest";
	return NULL;
}

int inis_template_manifest_check(const void *data, size_t n, struct inis_template_manifest *out, struct inis_error *err)
{
	const char *what;

	if (n != sizeof(*out))
		return inis_fail(err, INIS_CONFLICT, "a template's manifest of another build");
	memcpy(out, data, n);
	what = fault(out);
	return what ? inis_fail(err, INIS_CONFLICT, "a template's manifest with bad %s", what) : 0;
}

int inis_template_manifest_write(int template_dir, const struct inis_template_manifest *m, struct inis_error *err)
{
	return inis_put_at(template_dir, MANIFEST, m, sizeof(*m), 0600, err);
}

int inis_template_manifest_read(int template_dir, struct inis_template_manifest *out, struct inis_error *err)
{
	cleanup_close int fd = openat(template_dir, MANIFEST, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint8_t bytes[sizeof(*out) + 1];
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

	if (n < 0)
		return inis_fail_errno(err, "read a template's manifest");
	return inis_template_manifest_check(bytes, (size_t)n, out, err);
}

void inis_template_dir_name(const struct inis_template_manifest *m, char out[static INIS_TEMPLATE_DIR_SIZE])
{
	snprintf(out, INIS_TEMPLATE_DIR_SIZE, "%s-%.*s", m->name, INIS_TEMPLATE_TAG_DIGITS, m->content);
}

bool inis_template_is_dir_name(const char *name)
{
	const char *tag = strrchr(name, '-');

	return tag && tag > name && strlen(name) < INIS_TEMPLATE_DIR_SIZE && name[0] != '.' &&
	       strspn(name, NAME_CHARS) == strlen(name) && strlen(tag + 1) == INIS_TEMPLATE_TAG_DIGITS &&
	       strspn(tag + 1, HEX) == INIS_TEMPLATE_TAG_DIGITS;
}

int inis_template_open(int templates_dir, const char *name, struct inis_template_manifest *out, struct inis_error *err)
{
	cleanup_close int dir = inis_openat2(templates_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, 0);
	char expected[INIS_TEMPLATE_DIR_SIZE];

	if (dir < 0)
		return inis_fail_errno(err, "open the template %s", name);
	if (inis_template_manifest_read(dir, out, err) < 0)
		return -1;
	inis_template_dir_name(out, expected);
	if (strcmp(expected, name) != 0)
		return inis_fail(err, INIS_CONFLICT, "the manifest of the template %s is of another one", name);
	return take_fd(&dir);
}

int inis_template_verify(int template_dir, const struct inis_template_manifest *m, enum inis_tree_digest_kind kind,
			 struct inis_error *err)
{
	cleanup_close int root =
		openat(template_dir, INIS_TEMPLATE_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct inis_tree_digest found;

	if (root < 0)
		return inis_fail_errno(err, "open the files of template %s", m->name);
	if (inis_tree_digest(root, kind, &found, err) < 0)
		return -1;
	if (strcmp(found.hex, kind == INIS_TREE_CONTENT ? m->content : m->index) == 0)
		return 0;
	return inis_fail(err, INIS_CONFLICT, "template %s@%s is not what was built: its files were changed", m->name,
			 m->version);
}
