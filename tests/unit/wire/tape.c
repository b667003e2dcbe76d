/* SPDX-License-Identifier: Apache-2.0
 *
 * tape.c - the records of a terminal's tape come back however they are cut, and nothing else passes.
 */
#include "wire/tape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static void put_output(struct inis_buf *b, const char *text)
{
	uint8_t head[INIS_TAPE_HEAD];

	inis_tape_head(head, strlen(text));
	inis_buf_append(b, head, sizeof(head));
	inis_buf_puts(b, text);
}

static void put_size(struct inis_buf *b, uint16_t rows, uint16_t cols)
{
	uint8_t record[INIS_TAPE_SIZE_LEN];

	inis_tape_size(record, rows, cols);
	inis_buf_append(b, record, sizeof(record));
}

/* Reads in pieces of `step` bytes; sizes are written between the output as [rows x cols]. */
static void read_in(const struct inis_buf *tape, size_t step, struct inis_buf *seen)
{
	struct inis_tape_reader r = {0};

	for (size_t at = 0; at < tape->len;) {
		size_t n = tape->len - at < step ? tape->len - at : step, used = 0;
		struct inis_tape_item item;
		int got = inis_tape_read(&r, tape->data + at, n, &used, &item);

		assert_true(got >= 0 && used > 0 && used <= n);
		at += used;
		if (got == 1 && item.type == INIS_TAPE_SIZE)
			inis_buf_printf(seen, "[%ux%u]", item.rows, item.cols);
		else if (got == 1)
			inis_buf_append(seen, item.data, item.n);
	}
}

static void records_come_back_however_they_are_cut(void **state)
{
	cleanup_buf struct inis_buf tape = INIS_BUF_INIT(0);

	(void)state;
	put_size(&tape, 24, 80);
	put_output(&tape, "hello");
	put_output(&tape, "!");
	put_size(&tape, 65535, 1);
	put_output(&tape, "world");
	for (size_t step = 1; step <= tape.len; step++) {
		cleanup_buf struct inis_buf seen = INIS_BUF_INIT(0);

		read_in(&tape, step, &seen);
		assert_string_equal(inis_buf_cstr(&seen), "[24x80]hello![65535x1]world");
	}
}

static void what_is_no_record_is_refused(void **state)
{
	static const uint8_t wrong[][INIS_TAPE_SIZE_LEN] = {
		{0, 1, 0, 'x'}, /* no such type */
		{3, 1, 0, 'x'},
		{INIS_TAPE_OUTPUT, 0, 0}, /* empty */
		{INIS_TAPE_SIZE, 3, 0, 1, 0, 1}, /* short */
		{INIS_TAPE_SIZE, 4, 1, 1, 0, 1, 0}, /* long */
		{INIS_TAPE_SIZE, 4, 0, 0, 0, 1, 0}, /* no rows */
		{INIS_TAPE_SIZE, 4, 0, 1, 0, 0, 0}, /* no columns */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct inis_tape_reader r = {0};
		struct inis_tape_item item;
		size_t used;

		assert_int_equal(inis_tape_read(&r, wrong[i], sizeof(wrong[i]), &used, &item), -1);
	}
}

static void the_longest_record_passes(void **state)
{
	static uint8_t bytes[INIS_TAPE_HEAD + INIS_TAPE_DATA_MAX];
	struct inis_tape_reader r = {0};
	struct inis_tape_item item;
	size_t used;

	(void)state;
	inis_tape_head(bytes, INIS_TAPE_DATA_MAX);
	assert_int_equal(inis_tape_read(&r, bytes, sizeof(bytes), &used, &item), 1);
	assert_int_equal(item.n, INIS_TAPE_DATA_MAX);
	assert_int_equal(used, sizeof(bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back_however_they_are_cut),
		cmocka_unit_test(what_is_no_record_is_refused),
		cmocka_unit_test(the_longest_record_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
