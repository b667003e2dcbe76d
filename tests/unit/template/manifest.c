/* SPDX-License-Identifier: Apache-2.0
 *
 * manifest.c - a manifest is read back as written, anything else is refused, and names are only what they must be.
 */
#include "template/manifest.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "os/path.h"

#define DIGEST    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NOVEMBER  1795910400000 /* 2026-11-29 */
#define DIRECTORY "debian-0123456789abcdef"

static struct inis_template_manifest sample(void)
{
	struct inis_template_manifest m;

	inis_template_manifest_init(&m, "debian", DIGEST, NOVEMBER);
	memcpy(m.index, DIGEST, sizeof(DIGEST));
	strcpy(m.suite, "bookworm");
	return m;
}

static void version_and_directory_follow_from_day_and_digest(void **state)
{
	struct inis_template_manifest m = sample();
	char name[INIS_TEMPLATE_DIR_SIZE];

	(void)state;
	assert_string_equal(m.version, "2026.11.29-01234567");
	inis_template_dir_name(&m, name);
	assert_string_equal(name, DIRECTORY);
	assert_true(inis_template_is_dir_name(name));
}

static void other_names_are_no_templates(void **state)
{
	static const char *const names[] = {"host",
					    "disk-10240",
					    ".build-abcdefgh",
					    "debian",
					    "-0123456789abcdef",
					    "debian-0123456789abcde",
					    "debian-0123456789abcdeF",
					    "../x-0123456789abcdef",
					    ".x-0123456789abcdef"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(inis_template_is_dir_name(names[i]));
}

static void refused(const struct inis_template_manifest *m, size_t n)
{
	struct inis_template_manifest out;

	assert_int_equal(inis_template_manifest_check(m, n, &out, NULL), -1);
}

#define REFUSED(change_)                                    \
	do {                                                \
		struct inis_template_manifest m = sample(); \
		change_;                                    \
		refused(&m, sizeof(m));                     \
	} while (0)

static void one_wrong_field_is_enough(void **state)
{
	struct inis_template_manifest good = sample(), out;

	(void)state;
	assert_int_equal(inis_template_manifest_check(&good, sizeof(good), &out, NULL), 0);
	for (size_t n = 0; n < sizeof(good); n++)
		refused(&good, n);
	REFUSED(m.magic++);
	REFUSED(m.format++);
	REFUSED(m.name[0] = '\0');
	REFUSED(strcpy(m.name, "../etc"));
	REFUSED(strcpy(m.name, ".hidden"));
	REFUSED(memset(m.name, 'a', sizeof(m.name)));
	REFUSED(m.version[0] = '\0');
	REFUSED(strcpy(m.version, "a b"));
	REFUSED(strcpy(m.suite, "\xff"));
	REFUSED(m.content[63] = '\0');
	REFUSED(m.content[0] = 'g');
	REFUSED(memset(m.index, 'a', sizeof(m.index)));
}

static void a_template_is_opened_only_under_its_own_name_and_verified(void **state)
{
	char path[] = "/tmp/inis-manifest-test.XXXXXX";
	struct inis_template_manifest m = sample(), back;
	struct inis_tree_digest content, index;
	struct inis_error err = INIS_ERROR_INIT;
	char name[INIS_TEMPLATE_DIR_SIZE];
	cleanup_close int templates = -1;
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);
	cleanup_close int dir = -1;
	cleanup_close int root = -1;
	cleanup_close int opened = -1;

	(void)state;
	assert_non_null(mkdtemp(path));
	templates = inis_open_dir(path, NULL);
	dir = inis_make_dir_at(templates, "t", 0700, NULL);
	root = inis_make_dir_at(dir, INIS_TEMPLATE_ROOT, 0755, NULL);
	assert_int_equal(inis_create_at(root, "file", "text", 0644, NULL), 0);
	assert_int_equal(inis_tree_digest(root, INIS_TREE_CONTENT, &content, NULL), 0);
	assert_int_equal(inis_tree_digest(root, INIS_TREE_INDEX, &index, NULL), 0);
	inis_template_manifest_init(&m, "debian", content.hex, NOVEMBER);
	memcpy(m.index, index.hex, sizeof(m.index));
	assert_int_equal(inis_template_manifest_write(dir, &m, NULL), 0);
	assert_int_equal(inis_template_open(templates, "t", &back, &err), -1);
	inis_template_dir_name(&m, name);
	assert_int_equal(renameat(templates, "t", templates, name), 0);
	opened = inis_template_open(templates, name, &back, NULL);
	assert_true(opened >= 0);
	assert_memory_equal(&m, &back, sizeof(m));
	assert_int_equal(inis_template_verify(opened, &m, INIS_TREE_CONTENT, NULL), 0);
	assert_int_equal(inis_template_verify(opened, &m, INIS_TREE_INDEX, NULL), 0);
	assert_int_equal(fchmodat(root, "file", 0755, 0), 0);
	assert_int_equal(inis_template_verify(opened, &m, INIS_TREE_CONTENT, &err), -1);
	assert_int_equal(err.code, INIS_CONFLICT);
	assert_int_equal(inis_template_verify(opened, &m, INIS_TREE_INDEX, NULL), -1);
	assert_int_equal(inis_remove_tree_at(tmp, strrchr(path, '/') + 1, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_and_directory_follow_from_day_and_digest),
		cmocka_unit_test(other_names_are_no_templates),
		cmocka_unit_test(one_wrong_field_is_enough),
		cmocka_unit_test(a_template_is_opened_only_under_its_own_name_and_verified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
