/* SPDX-License-Identifier: Apache-2.0
 *
 * files_test.c - file requests in a real unit: contents, errors, the guest's rights, trees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client.h"

static void expect_sh(const char *script, const char *out)
{
	struct outcome o;

	client_run(&client, script, &o);
	assert_string_equal(outcome_out(&o), out);
	outcome_free(&o);
}

static uint32_t send_two(enum inis_frame_type type, const char *path, const char *dest)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	uint32_t channel = client_channel(&client);

	inis_pack_cstr(&b, path);
	if (dest)
		inis_pack_cstr(&b, dest);
	client_send_buf(&client, channel, type, &b);
	return channel;
}

static struct inis_file_info expect_info(uint32_t channel)
{
	struct inis_file_info info;
	struct inis_frame f;

	client_expect(&client, channel, INIS_F_FILE_INFO, &f);
	assert_int_equal(inis_file_info_unpack(f.payload, f.length, &info), 0);
	return info;
}

static struct inis_file_info stat_of(const char *path)
{
	return expect_info(send_two(INIS_F_FILE_STAT, path, NULL));
}

static uint32_t send_write(const char *path, uint32_t mode, uint64_t size)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_file_write m = {.path = str(path), .mode = mode, .size = size};
	uint32_t channel = client_channel(&client);

	inis_file_write_pack(&b, &m);
	client_send_buf(&client, channel, INIS_F_FILE_WRITE, &b);
	return channel;
}

static struct inis_file_info write_file(const char *path, uint32_t mode, const char *data, size_t n)
{
	uint32_t channel = send_write(path, mode, n);
	struct inis_frame f;
	size_t at = 0;

	client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
	do {
		size_t piece = n - at < INIS_STREAM_DATA_MAX ? n - at : INIS_STREAM_DATA_MAX;
		bool last = at + piece == n;

		client_send_stream(&client, channel, last ? INIS_FRAME_EOF : 0, at, data + at, piece);
		at += piece;
		if (!last)
			client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
	} while (at < n);
	return expect_info(channel);
}

static uint32_t send_read(const char *path, uint64_t offset, uint64_t length)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	uint32_t channel = client_channel(&client);

	inis_pack_cstr(&b, path);
	inis_pack_u64(&b, offset);
	inis_pack_u64(&b, length);
	client_send_buf(&client, channel, INIS_F_FILE_READ, &b);
	return channel;
}

/* Appends a stream up to END; returns END's flags. */
static uint32_t collect(uint32_t channel, struct inis_buf *to)
{
	struct inis_frame f;
	struct inis_unpack u;

	for (;;) {
		assert_true(client_next(&client, &f));
		assert_int_equal(f.channel, channel);
		inis_unpack_init(&u, f.payload, f.length);
		if (f.type == INIS_F_END)
			return inis_unpack_u32(&u);
		assert_int_equal(f.type, INIS_F_OUT);
		assert_int_equal(inis_unpack_u64(&u), to->len);
		inis_buf_append(to, u.at, u.left);
		client_ack(&client, channel, to->len, 0);
	}
}

static void read_file(const char *path, uint64_t offset, uint64_t length, struct inis_buf *to)
{
	uint32_t channel = send_read(path, offset, length);

	expect_info(channel);
	collect(channel, to);
}

static void F1_every_size_comes_back_exactly(void **state)
{
	static const size_t sizes[] = {0,     1,     4095,   4096,   4097,   65527,   65528,    65529,   65535,
				       65536, 65537, 131071, 131072, 131073, 1048576, 10485760, 34603008};
	char *data = malloc(34603008);

	(void)state;
	assert_non_null(data);
	for (size_t i = 0; i < 34603008; i++)
		data[i] = (char)(i * 7 + (i >> 10));
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
		struct inis_file_info info = write_file("/workspace/size", 0, data, sizes[i]);

		assert_int_equal(info.size, sizes[i]);
		assert_int_equal(info.type, INIS_FILE_REGULAR);
		read_file("/workspace/size", 0, UINT64_MAX, &b);
		assert_int_equal(b.len, sizes[i]);
		if (b.len)
			assert_memory_equal(b.data, data, b.len);
	}
	free(data);
	client_succeed("rm size");
}

static void F3_ranges(void **state)
{
	static const struct {
		uint64_t offset, length;
		const char *text;
	} rows[] = {{0, 3, "012"}, {4, 3, "456"}, {8, 100, "89"}, {10, 1, ""}, {UINT64_MAX, UINT64_MAX, ""},
		    {5, 0, ""}};

	(void)state;
	write_file("range", 0, "0123456789", 10);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

		read_file("range", rows[i].offset, rows[i].length, &b);
		assert_string_equal(inis_buf_cstr(&b), rows[i].text);
	}
}

static void modes_and_owner(void **state)
{
	(void)state;
	assert_int_equal(write_file("m/new", 0, "x", 1).mode, 0644);
	assert_int_equal(write_file("m/run", 0755, "x", 1).mode, 0755);
	assert_int_equal(write_file("m/run", 0, "y", 1).mode, 0755);
	assert_int_equal(write_file("m/run", 0600, "y", 1).mode, 0600);
	expect_sh("stat -c '%U %G %a' m m/new m/run",
		  "sandbox sandbox 755\nsandbox sandbox 644\nsandbox sandbox 600\n");
}

static void F5_parents_are_made_by_write_mkdir_and_rename(void **state)
{
	(void)state;
	write_file("p/a/b/file", 0, "x", 1);
	assert_int_equal(expect_info(send_two(INIS_F_FILE_MKDIR, "p/c/d/e", NULL)).type, INIS_FILE_DIRECTORY);
	expect_info(send_two(INIS_F_FILE_MKDIR, "p/c/d/e", NULL));
	expect_info(send_two(INIS_F_FILE_MKDIR, "/workspace", NULL));
	expect_info(send_two(INIS_F_FILE_RENAME, "p/a/b/file", "p/x/y/moved"));
	expect_sh("find p -type f", "p/x/y/moved\n");
	client_expect_error(&client, send_two(INIS_F_FILE_MKDIR, "p/x/y/moved", NULL), INIS_CONFLICT, "file exists");
	client_expect_error(&client, send_two(INIS_F_FILE_MKDIR, "p/x/y/moved/in", NULL), INIS_NOT_FOUND,
			    "not a directory");
	/* A source that is not there makes nothing. */
	client_expect_error(&client, send_two(INIS_F_FILE_RENAME, "p/nope", "q/r/s"), INIS_NOT_FOUND,
			    "no such file or directory");
	client_expect_error(&client, send_two(INIS_F_FILE_STAT, "q", NULL), INIS_NOT_FOUND, "no such file");
}

static void a_write_is_seen_whole_or_not_at_all(void **state)
{
	struct inis_frame f;
	uint32_t channel;

	(void)state;
	write_file("atomic", 0, "old", 3);
	channel = send_write("atomic", 0, UINT64_MAX);
	client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
	client_send_stream(&client, channel, 0, 0, "half", 4);
	client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
	expect_sh("cat atomic", "old");
	client_release(&client, channel);
	expect_sh("cat atomic; ls -A | grep -c inis-", "old0\n");
	/* Less than was announced. */
	channel = send_write("atomic", 0, 10);
	client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
	client_send_stream(&client, channel, INIS_FRAME_EOF, 0, "half", 4);
	client_expect_error(&client, channel, INIS_BAD_REQUEST, "not all");
	/* Out of order. */
	channel = send_write("atomic", 0, UINT64_MAX);
	client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
	client_send_stream(&client, channel, 0, 5, "half", 4);
	client_expect_error(&client, channel, INIS_BAD_REQUEST, "order");
	/* The connection breaks. */
	channel = send_write("atomic", 0, UINT64_MAX);
	client_expect(&client, channel, INIS_F_STDIN_ACK, &f);
	client_close(&client);
	client_start(&client, &unit);
	expect_sh("cat atomic; ls -A | grep -c inis-", "old0\n");
}

static void errors_have_their_code_and_text(void **state)
{
	(void)state;
	client_succeed(
		"mkdir -p e/full; echo x > e/full/x; mkfifo e/fifo; ln -s /etc/passwd e/out; ln -s ../../etc e/up; echo r > e/ro; "
		"chmod 444 e/ro; mkdir -m 0 e/closed; ln -s nowhere e/dangling");
	client_expect_error(&client, send_read("e/nope", 0, 1), INIS_NOT_FOUND, "no such file or directory");
	client_expect_error(&client, send_read("e/full", 0, 1), INIS_IS_DIRECTORY, "is a directory");
	client_expect_error(&client, send_read("e/fifo", 0, 1), INIS_BAD_REQUEST, "not a regular file");
	client_expect_error(&client, send_read("e/out", 0, 1), INIS_INVALID_PATH, "path must be under /workspace");
	client_expect_error(&client, send_read("/etc/passwd", 0, 1), INIS_INVALID_PATH,
			    "path must be under /workspace");
	client_expect_error(&client, send_read("e/up/passwd", 0, 1), INIS_INVALID_PATH,
			    "path must be under /workspace");
	client_expect_error(&client, send_read("e/closed/x", 0, 1), INIS_PERMISSION_DENIED, "permission denied");
	client_expect_error(&client, send_write("e/full", 0, 1), INIS_IS_DIRECTORY, "is a directory");
	client_expect_error(&client, send_write("/workspace", 0, 1), INIS_IS_DIRECTORY, "is a directory");
	client_expect_error(&client, send_write("e/fifo", 0, 1), INIS_BAD_REQUEST, "not a regular file");
	client_expect_error(&client, send_write("e/ro", 0, 1), INIS_PERMISSION_DENIED, "permission denied");
	client_expect_error(&client, send_write("e/closed/x", 0, 1), INIS_PERMISSION_DENIED, "permission denied");
	client_expect_error(&client, send_write("e/up/x", 0, 1), INIS_INVALID_PATH, "under /workspace");
	client_expect_error(&client, send_write("/tmp/x", 0, 1), INIS_INVALID_PATH, "under /workspace");
	write_file("e/dangling", 0, "through", 7);
	expect_sh("cat e/nowhere", "through");
}

static struct inis_buf list(const char *path, uint32_t limit, uint32_t *flags)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	uint32_t channel = client_channel(&client);
	struct inis_buf entries = INIS_BUF_INIT(0);

	inis_pack_cstr(&b, path);
	inis_pack_u32(&b, limit);
	client_send_buf(&client, channel, INIS_F_FILE_LIST, &b);
	*flags = collect(channel, &entries);
	return entries;
}

static unsigned count_entries(const struct inis_buf *entries)
{
	struct inis_unpack u;
	unsigned n = 0;

	inis_unpack_init(&u, entries->data, entries->len);
	while (u.left && !u.failed) {
		inis_unpack_u8(&u);
		inis_unpack_str(&u);
		n++;
	}
	assert_false(u.failed);
	return n;
}

static void F6_names_come_byte_for_byte(void **state)
{
	static const struct {
		uint8_t type;
		const char *name;
	} rows[] = {{INIS_FILE_REGULAR, "new\nline"}, {INIS_FILE_REGULAR, "\xff\xfe"}, {INIS_FILE_REGULAR, ".hidden"},
		    {INIS_FILE_DIRECTORY, "dir"},     {INIS_FILE_SYMLINK, "link"},     {INIS_FILE_OTHER, "fifo"}};
	struct inis_buf entries;
	uint32_t flags;

	(void)state;
	client_succeed(
		"mkdir -p l/dir; cd l; touch .hidden \"$(printf 'new\\nline')\" \"$(printf '\\377\\376')\"; ln -s nowhere link; "
		"mkfifo fifo");
	entries = list("l", 0, &flags);
	assert_int_equal(flags, 0);
	assert_int_equal(count_entries(&entries), 6);
	for (unsigned i = 0; i < 6; i++) {
		cleanup_buf struct inis_buf one = INIS_BUF_INIT(0);

		inis_pack_u8(&one, rows[i].type);
		inis_pack_cstr(&one, rows[i].name);
		assert_non_null(memmem(entries.data, entries.len, one.data, one.len));
	}
	inis_buf_free(&entries);
	client_expect_error(&client, send_two(INIS_F_FILE_REMOVE, "l", NULL), INIS_BAD_REQUEST, "malformed");
}

static void F13_a_huge_directory_is_listed_up_to_a_bound(void **state)
{
	struct inis_buf entries;
	uint32_t flags;

	(void)state;
	client_succeed("mkdir huge; cd huge; seq -f 'a-rather-long-name-%06.0f' 50000 | xargs touch");
	entries = list("huge", 0, &flags);
	assert_int_equal(flags, 0);
	assert_int_equal(count_entries(&entries), 50000);
	inis_buf_free(&entries);
	entries = list("huge", 1000, &flags);
	assert_int_equal(flags, INIS_END_TRUNCATED);
	assert_int_equal(count_entries(&entries), 1000);
	inis_buf_free(&entries);
	entries = list("huge", 50000, &flags);
	assert_int_equal(flags, 0);
	inis_buf_free(&entries);
}

static uint32_t send_remove(const char *path, bool recursive)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	uint32_t channel = client_channel(&client);

	inis_pack_cstr(&b, path);
	inis_pack_u8(&b, recursive);
	client_send_buf(&client, channel, INIS_F_FILE_REMOVE, &b);
	return channel;
}

static void removed(const char *path, bool recursive)
{
	uint32_t channel = send_remove(path, recursive);
	struct inis_frame f;

	client_expect(&client, channel, INIS_F_END, &f);
	client_expect_error(&client, send_two(INIS_F_FILE_STAT, path, NULL), INIS_NOT_FOUND, "no such file");
}

static void remove_files_and_trees(void **state)
{
	(void)state;
	client_succeed(
		"mkdir -p r/full/a/b r/empty; touch r/file r/full/x r/full/a/y; ln -s ../m r/full/link; ln -s /etc r/etc");
	removed("r/file", false);
	removed("r/empty", false);
	client_expect_error(&client, send_remove("r/full", false), INIS_BAD_REQUEST, "directory not empty");
	removed("r/full", true);
	removed("r/etc", true);
	expect_sh("ls m", "new\nrun\n");
	client_expect_error(&client, send_remove("r/nope", true), INIS_NOT_FOUND, "no such file or directory");
	client_expect_error(&client, send_remove("/workspace", true), INIS_BAD_REQUEST, "workspace");
	client_expect_error(&client, send_remove("r/..", true), INIS_BAD_REQUEST, "workspace");
	client_expect_error(&client, send_remove("/etc", true), INIS_INVALID_PATH, "under /workspace");
	removed("huge", true);
}

static void a_tree_too_deep_for_any_path_is_removed(void **state)
{
	(void)state;
	client_succeed(
		"python3 -c \"import os\nos.mkdir('deep'); os.chdir('deep')\nfor i in range(5000):\n os.mkdir('d' * 20)\n"
		" open('f', 'w').close()\n os.chdir('d' * 20)\n\"");
	removed("deep", true);
}

static void a_tree_that_may_not_be_removed_says_so(void **state)
{
	(void)state;
	client_succeed("mkdir -p locked/in; touch locked/in/x; chmod 555 locked/in");
	client_expect_error(&client, send_remove("locked", true), INIS_PERMISSION_DENIED, "permission denied");
	client_succeed("chmod 755 locked/in; rm -r locked");
}

static void rename_follows_the_rules(void **state)
{
	(void)state;
	client_succeed("mkdir -p n/full n/empty n/dir; touch n/full/x; echo a > n/a; echo b > n/b; ln -s a n/link");
	assert_int_equal(expect_info(send_two(INIS_F_FILE_RENAME, "n/a", "n/b")).size, 2);
	expect_sh("cat n/b; ls n", "a\nb\ndir\nempty\nfull\nlink\n");
	expect_info(send_two(INIS_F_FILE_RENAME, "n/dir", "n/empty"));
	client_expect_error(&client, send_two(INIS_F_FILE_RENAME, "n/empty", "n/full"), INIS_CONFLICT,
			    "directory not empty");
	client_expect_error(&client, send_two(INIS_F_FILE_RENAME, "n/b", "n/full"), INIS_IS_DIRECTORY,
			    "is a directory");
	client_expect_error(&client, send_two(INIS_F_FILE_RENAME, "n/empty", "n/b"), INIS_NOT_FOUND, "not a directory");
	client_expect_error(&client, send_two(INIS_F_FILE_RENAME, "n/full", "n/full/in"), INIS_BAD_REQUEST,
			    "into itself");
	client_expect_error(&client, send_two(INIS_F_FILE_RENAME, "n/b", "/tmp/b"), INIS_INVALID_PATH,
			    "under /workspace");
	client_expect_error(&client, send_two(INIS_F_FILE_RENAME, "/workspace", "n/w"), INIS_BAD_REQUEST, "workspace");
	expect_info(send_two(INIS_F_FILE_RENAME, "n/link", "n/link2"));
	assert_int_equal(stat_of("n/link2").type, INIS_FILE_SYMLINK);
	assert_int_equal(stat_of("/workspace").type, INIS_FILE_DIRECTORY);
	assert_int_equal(stat_of("n/full/x").size, 0);
}

static void F7_a_link_that_flips_never_leads_out(void **state)
{
	struct inis_str argv[3];
	struct inis_exec m =
		client_sh("mkdir -p flip/real; echo inside > flip/real/passwd; ln -s /etc flip/link; cd flip; "
			  "exec python3 -c \"import os\nos.rename('real', 'd')\nprint(1, flush=True)\nwhile True:\n"
			  " os.rename('d', 'real'); os.rename('link', 'd'); os.rename('d', 'link'); "
			  "os.rename('real', 'd')\"",
			  argv);
	struct inis_frame f;
	uint32_t flipper = client_exec_start(&client, &m);
	unsigned inside = 0;

	(void)state;
	client_expect(&client, flipper, INIS_F_STARTED, &f);
	client_expect(&client, flipper, INIS_F_OUT, &f);
	for (unsigned i = 0; i < 3000; i++) {
		uint32_t channel = send_read("/workspace/flip/d/passwd", 0, UINT64_MAX);

		assert_true(client_next(&client, &f));
		assert_int_equal(f.channel, channel);
		if (f.type == INIS_F_ERROR)
			continue;
		client_expect(&client, channel, INIS_F_OUT, &f);
		assert_int_equal(f.length, 8 + 7);
		assert_memory_equal(f.payload + 8, "inside\n", 7);
		client_expect(&client, channel, INIS_F_END, &f);
		inside++;
	}
	assert_true(inside > 0);
	client_release(&client, flipper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(F1_every_size_comes_back_exactly),
		cmocka_unit_test(F3_ranges),
		cmocka_unit_test(modes_and_owner),
		cmocka_unit_test(F5_parents_are_made_by_write_mkdir_and_rename),
		cmocka_unit_test(a_write_is_seen_whole_or_not_at_all),
		cmocka_unit_test(errors_have_their_code_and_text),
		cmocka_unit_test(F6_names_come_byte_for_byte),
		cmocka_unit_test(F13_a_huge_directory_is_listed_up_to_a_bound),
		cmocka_unit_test(remove_files_and_trees),
		cmocka_unit_test(a_tree_too_deep_for_any_path_is_removed),
		cmocka_unit_test(a_tree_that_may_not_be_removed_says_so),
		cmocka_unit_test(rename_follows_the_rules),
		cmocka_unit_test(F7_a_link_that_flips_never_leads_out),
	};

	return run_with_client(tests, 0);
}
