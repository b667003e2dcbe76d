/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.c - a tree that is packed and unpacked is the same, also byte by byte and to the deepest level; what goes wrong
 * is named and leaves nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "os/path.h"
#include "os/tree.h"

static char base[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(base, sizeof(base), "/tmp/inis-tree-XXXXXX");
	return mkdtemp(base) && chdir(base) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	if (chdir("/") < 0)
		return -1;
	return inis_remove_tree_at(AT_FDCWD, base + 1, NULL);
}

static void put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static int keep(void *ctx, const void *data, size_t n)
{
	inis_buf_append(ctx, data, n);
	return 0;
}

static struct inis_tree_report pack(const char *path, struct inis_buf *archive)
{
	const struct inis_tree_pack how = {.write = keep, .ctx = archive};
	struct inis_tree_report report = {.note = NULL};
	struct inis_error err = INIS_ERROR_INIT;

	assert_int_equal(inis_tree_pack(&how, path, &report, &err), 0);
	return report;
}

static struct inis_tree_report unpack(const char *path, const struct inis_buf *archive, size_t piece, int want)
{
	struct inis_tree_report report = {.note = NULL};
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_tree_place place;
	struct inis_tree_unpack *u;
	int rc = 0;

	assert_int_equal(inis_tree_place(path, false, &place, &err), 0);
	u = inis_tree_unpack_new(&place, &report, &err);
	assert_non_null(u);
	for (size_t at = 0; rc == 0 && at < archive->len; at += piece)
		rc = inis_tree_unpack_feed(u, archive->data + at, archive->len - at < piece ? archive->len - at : piece,
					   &err);
	if (rc == 0)
		rc = inis_tree_unpack_end(u, &err);
	inis_tree_unpack_free(u);
	assert_int_equal(rc, want);
	return report;
}

static void assert_file(const char *path, const char *text, mode_t mode, int64_t mtime)
{
	char found[64] = "";
	struct stat st;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, found, sizeof(found) - 1) >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	assert_string_equal(found, text);
	assert_int_equal(st.st_mode & 07777, mode);
	if (mtime)
		assert_int_equal(st.st_mtim.tv_sec, mtime);
}

static void a_tree_survives_in_pieces_of_any_size(void **state)
{
	static const size_t pieces[] = {1, 1000, 1 << 20};
	const struct timespec times[] = {{.tv_sec = 1}, {.tv_sec = 1000000007, .tv_nsec = 9}};
	struct inis_buf archive = INIS_BUF_INIT(0);
	struct inis_tree_report packed;
	char target[32] = "";
	struct stat st;

	(void)state;
	assert_int_equal(mkdir("src", 0755) | mkdir("src/sub", 0755) | mkdir("src/empty", 0711), 0);
	put("src/file", "text", 04755);
	put("src/sub/inner", "more", 0400);
	assert_int_equal(symlink("nowhere", "src/link"), 0);
	assert_int_equal(utimensat(AT_FDCWD, "src/file", times, 0), 0);
	assert_int_equal(chmod("src/sub", 0500), 0);
	packed = pack("src/", &archive);
	assert_int_equal(packed.files, 2);
	assert_int_equal(packed.directories, 3);
	assert_int_equal(packed.links, 1);
	assert_int_equal(packed.failed + packed.left_out, 0);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct inis_tree_report report = unpack("dst", &archive, pieces[i], 0);

		/* The second and third time into the directory that is there. */
		assert_int_equal(report.failed, 0);
		assert_int_equal(report.bytes, 8);
		assert_file(i ? "dst/src/file" : "dst/file", "text", 0755, 1000000007);
		assert_file(i ? "dst/src/sub/inner" : "dst/sub/inner", "more", 0400, 0);
		assert_int_equal(stat(i ? "dst/src/sub" : "dst/sub", &st), 0);
		assert_int_equal(st.st_mode & 0777, 0500);
		assert_true(readlink(i ? "dst/src/link" : "dst/link", target, sizeof(target) - 1) > 0);
		assert_string_equal(target, "nowhere");
	}
	inis_buf_free(&archive);
}

static void a_cut_archive_leaves_nothing_of_a_new_root(void **state)
{
	struct inis_buf archive = INIS_BUF_INIT(0);
	struct stat st;

	(void)state;
	assert_int_equal(mkdir("cut", 0755), 0);
	put("cut/file", "text", 0644);
	pack("cut", &archive);
	assert_int_equal(mkdir("target", 0755), 0);
	for (size_t n = archive.len - 1; n > 0; n -= n > 300 ? 300 : n) {
		archive.len = n;
		unpack("target/new", &archive, 512, -1);
	}
	assert_int_equal(stat("target/new", &st), -1);
	/* A directory that holds anything cannot be removed. */
	assert_int_equal(rmdir("target"), 0);
	inis_buf_free(&archive);
}

static void what_is_too_deep_is_named_and_passed_over(void **state)
{
	struct inis_buf archive = INIS_BUF_INIT(0);
	struct inis_tree_report report;

	(void)state;
	assert_int_equal(mkdir("deep", 0755), 0);
	assert_int_equal(chdir("deep"), 0);
	put("top", "t", 0644);
	for (int i = 0; i < INIS_TREE_DEPTH_MAX + 5; i++)
		assert_int_equal(mkdir("d", 0755) | chdir("d"), 0);
	assert_int_equal(chdir(base), 0);
	report = pack("deep", &archive);
	assert_int_equal(report.directories, INIS_TREE_DEPTH_MAX);
	assert_int_equal(report.failed, 1);
	report = unpack("deep2", &archive, 4096, 0);
	assert_int_equal(report.directories, INIS_TREE_DEPTH_MAX);
	assert_file("deep2/top", "t", 0644, 0);
	inis_buf_free(&archive);
}

static void a_file_appears_when_it_is_whole(void **state)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct inis_tree_place place;
	struct inis_tree_file *f;
	struct stat st;

	(void)state;
	put("whole", "old", 0600);
	for (int end = 0; end < 2; end++) {
		assert_int_equal(inis_tree_place("whole", false, &place, &err), 0);
		f = inis_tree_file_new(&place, "", &err);
		assert_non_null(f);
		assert_int_equal(inis_tree_file_write(f, "new", 3, &err), 0);
		assert_file("whole", "old", 0600, 0);
		if (end)
			assert_int_equal(inis_tree_file_end(f, &err), 0);
		inis_tree_file_free(f);
	}
	assert_file("whole", "new", 0600, 0);
	assert_int_equal(inis_tree_place("made/for/it/", false, &place, &err), 0);
	assert_null(inis_tree_file_new(&place, "", &err));
	assert_null(strstr(err.message, "(null)"));
	assert_int_equal(stat("made/for/it", &st), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_survives_in_pieces_of_any_size),
		cmocka_unit_test(a_cut_archive_leaves_nothing_of_a_new_root),
		cmocka_unit_test(what_is_too_deep_is_named_and_passed_over),
		cmocka_unit_test(a_file_appears_when_it_is_whole),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
