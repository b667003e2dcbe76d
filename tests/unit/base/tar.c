/* SPDX-License-Identifier: Apache-2.0
 *
 * tar.c - archives: what is written is read as the same, however it is cut; what is no archive is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tar.h"

struct seen {
	struct inis_buf text; /* of all that the handler was given */
	int entries, ends;
};

static int on_entry(void *ctx, const struct tar_entry *e, struct inis_error *err)
{
	struct seen *s = ctx;

	(void)err;
	s->entries++;
	inis_buf_printf(&s->text, "%d %o %llu %lld.%09u [%s] [%s]\n", (int)e->type, e->mode,
			(unsigned long long)e->size, (long long)e->mtime_s, e->mtime_ns, e->path,
			e->type == TAR_LINK ? e->target : "");
	return 0;
}

static int on_data(void *ctx, const uint8_t *data, size_t n, struct inis_error *err)
{
	struct seen *s = ctx;

	(void)err;
	inis_buf_append(&s->text, data, n);
	return 0;
}

static int on_end(void *ctx, struct inis_error *err)
{
	struct seen *s = ctx;

	(void)err;
	s->ends++;
	return 0;
}

static const struct tar_handler HANDLER = {on_entry, on_data, on_end};

/* 1: whole; 0: not; -1: refused. */
static int read_in_pieces(struct seen *s, const struct inis_buf *archive, size_t piece)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct tar_reader r;
	int rc = 0;

	*s = (struct seen){.text = INIS_BUF_INIT(0)};
	tar_reader_init(&r, &HANDLER, s);
	for (size_t at = 0; rc == 0 && at < archive->len; at += piece)
		rc = tar_read(&r, archive->data + at, archive->len - at < piece ? archive->len - at : piece, &err);
	if (rc < 0)
		assert_int_equal(err.code, INIS_BAD_REQUEST);
	else
		rc = tar_read_all(&r);
	tar_reader_free(&r);
	return rc;
}

static void put(struct inis_buf *archive, const struct tar_entry *e)
{
	tar_put_entry(archive, e);
	for (uint64_t i = 0; i < e->size; i++)
		inis_buf_append(archive, "abcdefg" + i % 7, 1);
	tar_put_padding(archive, e->size);
}

static char *name_of(size_t n)
{
	char *name = malloc(n + 1);

	memset(name, 'n', n);
	name[n] = '\0';
	return name;
}

static void what_is_written_is_read_as_the_same(void **state)
{
	static const size_t lengths[] = {1, 98, 99, 100, 101, 155, 256, 1000, TAR_PATH_MAX - 1};
	static const uint64_t sizes[] = {0, 1, 511, 512, 513, 5000};
	static const struct {
		int64_t s;
		uint32_t ns;
		const char *text;
	} times[] = {{0, 0, "0.000000000"},           {1, 1, "1.000000001"},
		     {-1, 0, "-1.000000000"},         {-1, 999999999, "-1.999999999"}, /* a nanosecond before 1970 */
		     {-2, 500000000, "-2.500000000"}, {77777777777, 123456789, "77777777777.123456789"}};
	struct inis_buf archive = INIS_BUF_INIT(0), want = INIS_BUF_INIT(0);
	static const size_t pieces[] = {1, 7, 511, 512, 513, 1 << 20};
	struct seen s;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char *name = name_of(lengths[i]), *target = name_of(lengths[i]);
		struct tar_entry file = {.type = TAR_FILE,
					 .mode = 0640,
					 .size = sizes[i % 6],
					 .mtime_s = times[i % 6].s,
					 .mtime_ns = times[i % 6].ns,
					 .path = name};
		struct tar_entry link = {.type = TAR_LINK, .mode = 0777, .path = "\xff\n link", .target = target};
		struct tar_entry dir = {.type = TAR_DIR, .mode = 01755, .path = name};

		put(&archive, &file);
		inis_buf_printf(&want, "0 640 %llu %s [%s] []\n", (unsigned long long)file.size, times[i % 6].text,
				name);
		for (uint64_t k = 0; k < file.size; k++)
			inis_buf_append(&want, "abcdefg" + k % 7, 1);
		put(&archive, &link);
		inis_buf_printf(&want, "2 777 0 0.000000000 [\xff\n link] [%s]\n", target);
		put(&archive, &dir);
		inis_buf_printf(&want, "1 1755 0 0.000000000 [%s] []\n", name);
		free(name);
		free(target);
	}
	tar_put_end(&archive);
	assert_false(archive.failed);
	assert_int_equal(archive.len % TAR_BLOCK, 0);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		assert_int_equal(read_in_pieces(&s, &archive, pieces[i]), 1);
		assert_int_equal(s.entries, s.ends);
		assert_string_equal(inis_buf_cstr(&s.text), inis_buf_cstr(&want));
		inis_buf_free(&s.text);
	}
	inis_buf_free(&archive);
	inis_buf_free(&want);
}

static void an_archive_that_is_cut_is_never_whole(void **state)
{
	struct inis_buf archive = INIS_BUF_INIT(0);
	struct seen s;

	(void)state;
	put(&archive, &(struct tar_entry){.type = TAR_FILE, .size = 700, .mtime_ns = 1, .path = "file"});
	tar_put_end(&archive);
	for (size_t n = archive.len - 1; n > 0; n--) {
		archive.len = n;
		assert_int_equal(read_in_pieces(&s, &archive, 100), 0);
		inis_buf_free(&s.text);
	}
	inis_buf_free(&archive);
}

static void what_is_no_archive_is_refused(void **state)
{
	static const char *const records[] = {"7 path=",       "99 path=x\n",   "x path=x\n", "8 path=x\n",
					      "11 path=\0x\n", "12 size=abc\n", "4 x\n",      "12 mtime=zz\n"};
	struct seen s;

	(void)state;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct inis_buf archive = INIS_BUF_INIT(0);
		size_t n = i == 4 ? 11 : strlen(records[i]);

		/* A header that our own writer would not make, with a sum of its own. */
		put(&archive, &(struct tar_entry){.type = TAR_FILE, .size = n, .path = "x"});
		archive.data[156] = 'x';
		archive.data[154] = ' ';
		snprintf((char *)archive.data + 148, 7, "%06o", 0);
		memset(archive.data + 148, ' ', 8);
		unsigned sum = 0;
		for (size_t k = 0; k < TAR_BLOCK; k++)
			sum += archive.data[k];
		snprintf((char *)archive.data + 148, 7, "%06o", sum);
		archive.data[154] = '\0';
		memcpy(archive.data + TAR_BLOCK, records[i], n);
		put(&archive, &(struct tar_entry){.type = TAR_FILE, .path = "y"});
		tar_put_end(&archive);
		assert_int_equal(read_in_pieces(&s, &archive, 64), -1);
		inis_buf_free(&s.text);
		inis_buf_free(&archive);
	}
	struct inis_buf noise = INIS_BUF_INIT(0);

	for (int i = 0; i < 1024; i++)
		inis_buf_append(&noise, "?", 1);
	assert_int_equal(read_in_pieces(&s, &noise, 1024), -1);
	inis_buf_free(&s.text);
	inis_buf_free(&noise);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_as_the_same),
		cmocka_unit_test(an_archive_that_is_cut_is_never_whole),
		cmocka_unit_test(what_is_no_archive_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
