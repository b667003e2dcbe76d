/* SPDX-License-Identifier: Apache-2.0
 *
 * trouble.c - what the store promises when its files or its disk are not what they should be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static char *path_of(const struct box *box, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", box->dir, name);
	return path;
}

static void write_file(const char *path, const void *data, size_t n, off_t at)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, n, at), n);
	close(fd);
}

/* Opening fails with a text that names the cause. */
static void assert_refused(struct box *box, const char *cause)
{
	struct inis_error err = INIS_ERROR_INIT;

	assert_int_equal(box_try_open(box, DAY_MS, &err), -1);
	if (!strstr(err.message, cause))
		fail_msg("`%s` does not say `%s`", err.message, cause);
}

/* A database with some sessions, closed. */
static void fill(struct box *box)
{
	box_open(box);
	for (int i = 0; i < 200; i++) {
		struct inis_session_row row = box_row(i);

		row.secrets = "{\"A\":\"b\"}";
		assert_int_equal(box_put(box, &row), INIS_OK);
	}
	box_close(box);
}

static void a_file_that_is_no_database_is_refused_and_kept(void **state)
{
	static const char text[] = "this is a note of mine and not a database at all, please keep it";
	struct box *box = *state;
	char seen[sizeof(text)];
	int fd;

	write_file(path_of(box, "db"), text, sizeof(text), 0);
	assert_refused(box, "not a database");
	fd = open(path_of(box, "db"), O_RDONLY);
	assert_int_equal(read(fd, seen, sizeof(seen)), sizeof(text));
	assert_memory_equal(seen, text, sizeof(text));
	close(fd);
}

static void a_database_of_another_program_is_refused(void **state)
{
	struct box *box = *state;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path_of(box, "db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE mine (x)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_refused(box, "another program");
	assert_int_equal(access(path_of(box, "master.key"), F_OK), -1);
	assert_int_equal(access(path_of(box, "db-wal"), F_OK), -1);
}

static void a_database_of_a_newer_version_is_refused(void **state)
{
	struct box *box = *state;
	sqlite3 *db;

	fill(box);
	assert_int_equal(sqlite3_open(path_of(box, "db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 999", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_refused(box, "newer version");
}

static void a_damaged_database_is_refused(void **state)
{
	static const char noise[4096] = {1, 2, 3};
	struct box *box = *state;
	struct stat st;

	fill(box);
	assert_int_equal(stat(path_of(box, "db"), &st), 0);
	for (off_t at = 4096; at + 4096 <= st.st_size; at += 4096)
		write_file(path_of(box, "db"), noise, sizeof(noise), at);
	assert_refused(box, "database");
}

static void a_missing_wrong_damaged_or_readable_master_key_is_refused(void **state)
{
	struct box *box = *state;
	struct inis_error err = INIS_ERROR_INIT;
	char saved[300];

	fill(box);
	snprintf(saved, sizeof(saved), "%s.saved", path_of(box, "master.key"));
	assert_int_equal(rename(path_of(box, "master.key"), saved), 0);
	assert_refused(box, "master.key is missing");
	assert_int_equal(access(path_of(box, "master.key"), F_OK), -1);

	write_file(path_of(box, "master.key"), "000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f\n", 65,
		   0);
	assert_refused(box, "not the key of this database");
	assert_int_equal(truncate(path_of(box, "master.key"), 12), 0);
	assert_refused(box, "damaged");

	assert_int_equal(rename(saved, path_of(box, "master.key")), 0);
	assert_int_equal(chmod(path_of(box, "master.key"), 0644), 0);
	assert_refused(box, "only its owner");
	assert_int_equal(chmod(path_of(box, "master.key"), 0600), 0);
	assert_int_equal(box_try_open(box, DAY_MS, &err), 0);
}

static void a_directory_that_is_not_there_is_an_error(void **state)
{
	struct box *box = *state;
	char saved[sizeof(box->dir)];

	memcpy(saved, box->dir, sizeof(saved));
	snprintf(box->dir, sizeof(box->dir), "%.100s/nowhere", saved);
	assert_refused(box, "No such file");
	memcpy(box->dir, saved, sizeof(saved));
}

static void half_made_files_of_a_first_start_do_no_harm(void **state)
{
	struct box *box = *state;

	write_file(path_of(box, "master.key.new"), "0001", 4, 0);
	write_file(path_of(box, "db"), "", 0, 0);
	box_open(box);
}

/* ---- a full disk ---- */

static int set_up_small_disk(void **state)
{
	struct box *box;

	box_set_up_closed(state);
	box = *state;
	if (mount("tmpfs", box->dir, "tmpfs", 0, "size=16m,mode=0700") == 0)
		return 0;
	box_tear_down(state);
	*state = NULL;
	return 0;
}

static int tear_down_small_disk(void **state)
{
	struct box *box = *state;

	if (!box)
		return 0;
	box_close(box);
	umount2(box->dir, MNT_DETACH);
	return box_tear_down(state);
}

static void fill_disk(const struct box *box)
{
	static char block[65536];
	int fd = open(path_of(box, "filler"), O_WRONLY | O_CREAT | O_APPEND, 0600);

	assert_true(fd >= 0);
	for (size_t n = sizeof(block); n > 0; n /= 2) {
		while (write(fd, block, n) == (ssize_t)n)
			;
	}
	close(fd);
}

static int reserve_exists(const struct box *box)
{
	return access(path_of(box, "db.reserve"), F_OK) == 0;
}

static void on_full_disk_writes_go_to_the_reserve_then_fail_alone_and_the_store_lives_on(void **state)
{
	static char doc[256 * 1024];
	struct box *box = *state;
	struct inis_session_row row = box_row(1), big = box_row(2);
	enum inis_code code = INIS_OK;

	if (!box) {
		print_message("skipped: needs the right to mount a tmpfs\n");
		skip();
	}
	memset(doc, 'x', sizeof(doc) - 1);
	memcpy(doc, "{\"a\":\"", 6);
	memcpy(doc + sizeof(doc) - 3, "\"}", 3);
	big.doc = doc;
	box_open(box);
	assert_int_equal(box_put(box, &row), INIS_OK);
	for (int i = 0; i < 300 && !reserve_exists(box); i++)
		usleep(10000);
	assert_true(reserve_exists(box));

	fill_disk(box);
	for (int i = 0; i < 100 && code == INIS_OK; i++) {
		snprintf(big.id.s, sizeof(big.id.s), "b%020d", i);
		code = box_put(box, &big);
		if (i == 0)
			assert_int_equal(code, INIS_OK); /* 256 KiB need the reserve */
	}
	assert_int_equal(code, INIS_UNAVAILABLE);
	assert_false(reserve_exists(box));

	assert_int_equal(unlink(path_of(box, "filler")), 0);
	assert_int_equal(box_put(box, &big), INIS_OK);
	box_close(box);
	box_open(box);
	assert_int_equal(box_put(box, &row), INIS_OK);
}

static void a_store_opens_on_a_full_disk_with_its_reserve(void **state)
{
	struct box *box = *state;
	struct inis_session_row row = box_row(1);

	if (!box) {
		print_message("skipped: needs the right to mount a tmpfs\n");
		skip();
	}
	box_open(box);
	assert_int_equal(box_put(box, &row), INIS_OK);
	box_close(box);
	assert_true(reserve_exists(box));
	fill_disk(box);
	box_open(box);
	assert_int_equal(box_put(box, &row), INIS_OK);
}

#define CASE(name)       cmocka_unit_test_setup_teardown(name, box_set_up_closed, box_tear_down)
#define SMALL_DISK(name) cmocka_unit_test_setup_teardown(name, set_up_small_disk, tear_down_small_disk)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_file_that_is_no_database_is_refused_and_kept),
		CASE(a_database_of_another_program_is_refused),
		CASE(a_database_of_a_newer_version_is_refused),
		CASE(a_damaged_database_is_refused),
		CASE(a_missing_wrong_damaged_or_readable_master_key_is_refused),
		CASE(a_directory_that_is_not_there_is_an_error),
		CASE(half_made_files_of_a_first_start_do_no_harm),
		SMALL_DISK(on_full_disk_writes_go_to_the_reserve_then_fail_alone_and_the_store_lives_on),
		SMALL_DISK(a_store_opens_on_a_full_disk_with_its_reserve),
	};

	return cmocka_run_group_tests_name("store_trouble", tests, NULL, NULL);
}
