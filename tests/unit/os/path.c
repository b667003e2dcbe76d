/* SPDX-License-Identifier: Apache-2.0
 *
 * path.c - files by descriptor: nothing leads out, replacing is atomic, removing is complete.
 */
#include "os/path.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"

struct place {
	char path[64];
	int dir;
};

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->path, "/tmp/inis-path-test.XXXXXX");
	assert_non_null(mkdtemp(p->path));
	p->dir = inis_open_dir(p->path, NULL);
	*state = p;
	return p->dir < 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);
	int rc = inis_remove_tree_at(tmp, strrchr(p->path, '/') + 1, NULL);

	close(p->dir);
	free(p);
	return rc;
}

static void no_link_leads_out_of_a_directory(void **state)
{
	struct place *p = *state;

	assert_int_equal(symlinkat("/etc/passwd", p->dir, "absolute"), 0);
	assert_int_equal(symlinkat("../../etc/passwd", p->dir, "relative"), 0);
	assert_int_equal(inis_openat2(p->dir, "absolute", O_RDONLY, 0, 0), -1);
	assert_int_equal(inis_openat2(p->dir, "relative", O_RDONLY, 0, 0), -1);
	assert_int_equal(inis_openat2(p->dir, "../passwd", O_RDONLY, 0, 0), -1);
	assert_int_equal(symlinkat("absolute", p->dir, "dir"), 0);
	assert_int_equal(inis_make_dir_at(p->dir, "dir", 0700, NULL), -1);
}

static void a_file_is_replaced_as_a_whole(void **state)
{
	struct place *p = *state;
	char text[16];
	struct stat st;

	assert_int_equal(inis_put_at(p->dir, "f", "one", 3, 0600, NULL), 0);
	assert_int_equal(inis_put_at(p->dir, "f", "two", 3, 0640, NULL), 0);
	assert_int_equal(inis_read_at(p->dir, "f", text, sizeof(text), NULL), 3);
	assert_string_equal(text, "two");
	assert_int_equal(fstatat(p->dir, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(inis_create_at(p->dir, "f", "three", 0600, NULL), -1);
	assert_int_equal(errno, EEXIST);
}

static void a_tree_deeper_than_descriptors_reach_is_removed(void **state)
{
	struct place *p = *state;
	int at = dup(p->dir);

	for (int i = 0; i < 3000; i++) {
		int next;

		assert_int_equal(mkdirat(at, "d", 0700), 0);
		close(openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(at);
		at = next;
	}
	close(at);
	assert_int_equal(inis_remove_tree_at(p->dir, "d", NULL), 0);
	assert_int_equal(faccessat(p->dir, "d", F_OK, 0), -1);
}

static void removing_a_tree_does_not_follow_links(void **state)
{
	struct place *p = *state;
	cleanup_close int kept = inis_make_dir_at(p->dir, "kept", 0700, NULL);
	cleanup_close int gone = inis_make_dir_at(p->dir, "gone", 0700, NULL);

	assert_int_equal(inis_create_at(kept, "file", "x", 0600, NULL), 0);
	assert_int_equal(symlinkat("../kept", gone, "link"), 0);
	assert_int_equal(inis_remove_tree_at(p->dir, "gone", NULL), 0);
	assert_int_equal(faccessat(kept, "file", F_OK, 0), 0);
	assert_int_equal(inis_remove_tree_at(p->dir, "never-was", NULL), 0);
}

static void a_sparse_copy_has_the_same_bytes_and_the_holes(void **state)
{
	struct place *p = *state;
	cleanup_close int from = openat(p->dir, "from", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cleanup_close int to = openat(p->dir, "to", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct stat a, b;
	char text[5] = "";

	assert_int_equal(pwrite(from, "data", 4, 40 << 20), 4);
	assert_int_equal(ftruncate(from, 100 << 20), 0);
	assert_int_equal(inis_copy_sparse(from, to, NULL), 0);
	assert_int_equal(pread(to, text, 4, 40 << 20), 4);
	assert_string_equal(text, "data");
	assert_int_equal(fstat(from, &a), 0);
	assert_int_equal(fstat(to, &b), 0);
	assert_int_equal(a.st_size, b.st_size);
	assert_true(b.st_blocks * 512 < 1 << 20);
}

static void a_copy_to_another_file_system_has_the_same_bytes(void **state)
{
	struct place *p = *state;
	cleanup_close int from = openat(p->dir, "from", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cleanup_close int to = memfd_create("to", MFD_CLOEXEC);
	char a[200000];
	char b[200000];

	memset(a, 'x', sizeof(a));
	a[123456] = 'y';
	assert_int_equal(pwrite(from, a, sizeof(a), 8192), sizeof(a));
	assert_int_equal(inis_copy_sparse(from, to, NULL), 0);
	assert_int_equal(pread(to, b, sizeof(b), 8192), sizeof(b));
	assert_memory_equal(a, b, sizeof(a));
}

#define placed(test_) cmocka_unit_test_setup_teardown(test_, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		placed(no_link_leads_out_of_a_directory),
		placed(a_file_is_replaced_as_a_whole),
		placed(a_tree_deeper_than_descriptors_reach_is_removed),
		placed(removing_a_tree_does_not_follow_links),
		placed(a_sparse_copy_has_the_same_bytes_and_the_holes),
		placed(a_copy_to_another_file_system_has_the_same_bytes),
	};

	return cmocka_run_group_tests_name("os_path", tests, NULL, NULL);
}
