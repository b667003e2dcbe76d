/* SPDX-License-Identifier: Apache-2.0
 *
 * tree_digest.c - a tree's digest is the same for equal trees and another for any change that a guest could see.
 */
#include "template/tree_digest.h"

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

struct tree {
	char path[64];
	int dir;
};

static void put(int dir, const char *path, const char *text)
{
	assert_int_equal(inis_create_at(dir, path, text, 0644, NULL), 0);
}

/* In this order or the other way round: the order of entries on the disk must not matter. */
static void tree_make(struct tree *t, bool backwards)
{
	static const char *const names[] = {"a", "b.txt", "B", "\xff\xfe", "z"};
	const size_t n = sizeof(names) / sizeof(names[0]);

	snprintf(t->path, sizeof(t->path), "/tmp/inis-tree-test.XXXXXX");
	assert_non_null(mkdtemp(t->path));
	t->dir = inis_open_dir(t->path, NULL);
	assert_true(t->dir >= 0);
	for (size_t i = 0; i < n; i++)
		put(t->dir, names[backwards ? n - 1 - i : i], (backwards ? n - 1 - i : i) == 0 ? "" : "text");
	assert_int_equal(mkdirat(t->dir, "sub", 0755), 0);
	put(t->dir, "sub/file", "0123456789");
	assert_int_equal(symlinkat("file", t->dir, "sub/link"), 0);
	assert_int_equal(mkfifoat(t->dir, "sub/fifo", 0600), 0);
}

static void tree_drop(struct tree *t)
{
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);

	close_fd(&t->dir);
	assert_int_equal(inis_remove_tree_at(tmp, strrchr(t->path, '/') + 1, NULL), 0);
}

static void digest(const struct tree *t, enum inis_tree_digest_kind kind, char hex[static INIS_DIGEST_SIZE])
{
	struct inis_tree_digest d;

	assert_int_equal(inis_tree_digest(t->dir, kind, &d, NULL), 0);
	assert_int_equal(strlen(d.hex), 64);
	memcpy(hex, d.hex, INIS_DIGEST_SIZE);
}

static void equal_trees_have_equal_digests(void **state)
{
	struct tree a, b;
	char of_a[INIS_DIGEST_SIZE], of_b[INIS_DIGEST_SIZE];

	(void)state;
	tree_make(&a, false);
	tree_make(&b, true);
	digest(&a, INIS_TREE_CONTENT, of_a);
	digest(&b, INIS_TREE_CONTENT, of_b);
	assert_string_equal(of_a, of_b);
	tree_drop(&a);
	tree_drop(&b);
}

static void change_text(int dir)
{
	cleanup_close int fd = openat(dir, "sub/file", O_WRONLY);

	assert_int_equal(pwrite(fd, "x", 1, 9), 1);
}

static void change_mode(int dir)
{
	assert_int_equal(fchmodat(dir, "sub/file", 04755, 0), 0);
}

static void change_link(int dir)
{
	assert_int_equal(unlinkat(dir, "sub/link", 0), 0);
	assert_int_equal(symlinkat("elif", dir, "sub/link"), 0);
}

static void add_directory(int dir)
{
	assert_int_equal(mkdirat(dir, "sub/empty", 0755), 0);
}

static void move_up(int dir)
{
	assert_int_equal(renameat(dir, "sub/file", dir, "file"), 0);
}

static void swap_names(int dir)
{
	assert_int_equal(renameat(dir, "a", dir, "tmp"), 0);
	assert_int_equal(renameat(dir, "z", dir, "a"), 0);
	assert_int_equal(renameat(dir, "tmp", dir, "z"), 0);
}

static void drop_fifo(int dir)
{
	assert_int_equal(unlinkat(dir, "sub/fifo", 0), 0);
}

static void (*const changes[])(int) = {change_text, change_mode, change_link, add_directory,
				       move_up,     swap_names,  drop_fifo};

static void every_change_gives_another_digest(void **state)
{
	(void)state;
	for (int kind = INIS_TREE_CONTENT; kind <= INIS_TREE_INDEX; kind++) {
		for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
			struct tree t;
			char before[INIS_DIGEST_SIZE], after[INIS_DIGEST_SIZE];

			tree_make(&t, false);
			digest(&t, (enum inis_tree_digest_kind)kind, before);
			usleep(20000); /* a time of change has the grain of the kernel's clock tick */
			changes[i](t.dir);
			digest(&t, (enum inis_tree_digest_kind)kind, after);
			if (strcmp(before, after) == 0)
				fail_msg("change %zu is not seen by digest kind %d", i, kind);
			tree_drop(&t);
		}
	}
}

static void only_the_index_knows_times(void **state)
{
	struct tree t;
	char content[2][INIS_DIGEST_SIZE], index[2][INIS_DIGEST_SIZE];
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	(void)state;
	tree_make(&t, false);
	digest(&t, INIS_TREE_CONTENT, content[0]);
	digest(&t, INIS_TREE_INDEX, index[0]);
	assert_int_equal(utimensat(t.dir, "z", times, 0), 0);
	digest(&t, INIS_TREE_CONTENT, content[1]);
	digest(&t, INIS_TREE_INDEX, index[1]);
	assert_string_equal(content[0], content[1]);
	assert_string_not_equal(index[0], index[1]);
	tree_drop(&t);
}

static void a_tree_too_deep_is_refused(void **state)
{
	struct tree t;
	struct inis_tree_digest d;
	cleanup_close int at = -1;

	(void)state;
	tree_make(&t, false);
	at = dup(t.dir);
	for (int i = 0; i < 200; i++) {
		int below = inis_make_dir_at(at, "d", 0755, NULL);

		assert_true(below >= 0);
		close(at);
		at = below;
	}
	assert_int_equal(inis_tree_digest(t.dir, INIS_TREE_INDEX, &d, NULL), -1);
	tree_drop(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_trees_have_equal_digests),
		cmocka_unit_test(every_change_gives_another_digest),
		cmocka_unit_test(only_the_index_knows_times),
		cmocka_unit_test(a_tree_too_deep_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
