/* SPDX-License-Identifier: Apache-2.0
 *
 * ring_test.c - a terminal's tape is kept to its bound, in whole records, and what was forgotten left its mark.
 */
#include "agent/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/tape.h"

static void feed(struct modes *m, const char *text)
{
	modes_feed(m, text, strlen(text));
}

static const char *written(const struct modes *m)
{
	static char text[512];
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	modes_write(m, &b);
	snprintf(text, sizeof(text), "%s", inis_buf_cstr(&b));
	return text;
}

/* All that is kept, as output and [rows x cols], with the size at its beginning. */
static void read_all(const struct ring *r, struct inis_buf *seen)
{
	struct inis_tape_reader reader = {0};

	inis_buf_printf(seen, "[%ux%u]", r->rows, r->cols);
	for (uint64_t at = r->first; at < r->end;) {
		const uint8_t *data;
		size_t n = ring_read(r, at, SIZE_MAX, &data), used;
		struct inis_tape_item item;
		int got = inis_tape_read(&reader, data, n, &used, &item);

		assert_true(got >= 0 && used > 0);
		at += used;
		if (got == 1 && item.type == INIS_TAPE_SIZE)
			inis_buf_printf(seen, "[%ux%u]", item.rows, item.cols);
		else if (got == 1)
			inis_buf_append(seen, item.data, item.n);
	}
	assert_int_equal(reader.have + reader.left, 0);
	assert_non_null(inis_buf_cstr(seen));
}

static void sizes_stay_between_the_bytes_they_were_for(void **state)
{
	cleanup_buf struct inis_buf seen = INIS_BUF_INIT(0);
	struct ring r;

	(void)state;
	ring_init(&r, 24, 80);
	ring_output(&r, "one", 3);
	ring_size(&r, 50, 132);
	ring_output(&r, "two", 3);
	read_all(&r, &seen);
	assert_string_equal((char *)seen.data, "[24x80]one[50x132]two");
	assert_int_equal(r.first, 0);
	ring_free(&r);
}

static void what_is_forgotten_is_the_oldest_and_whole(void **state)
{
	struct ring r;
	char line[64];

	(void)state;
	ring_init(&r, 24, 80);
	for (unsigned i = 0; i < 200000; i++) {
		int n = snprintf(line, sizeof(line), "line %u;", i);

		ring_output(&r, line, (size_t)n);
		assert_true(r.end - r.first <= RING_MAX);
		if (i % 40000 == 39999) {
			cleanup_buf struct inis_buf seen = INIS_BUF_INIT(0);
			unsigned first;

			read_all(&r, &seen);
			assert_int_equal(sscanf((char *)seen.data, "[24x80]line %u;", &first), 1);
			for (char *at = (char *)seen.data + 7; *at; first++, at += strlen(line)) {
				snprintf(line, sizeof(line), "line %u;", first);
				assert_int_equal(strncmp(at, line, strlen(line)), 0);
			}
			assert_int_equal(first, i + 1);
			/* All of the room is used. */
			assert_true(r.first == 0 || r.end - r.first > RING_MAX - 64);
		}
	}
	assert_true(r.first > 0);
	ring_free(&r);
}

static void forgotten_sizes_and_modes_count(void **state)
{
	static uint8_t much[RING_MAX];
	struct ring r;

	(void)state;
	ring_init(&r, 24, 80);
	ring_output(&r, "\x1b[?104", 6);
	ring_size(&r, 30, 90);
	ring_output(&r, "9h", 2);
	ring_size(&r, 40, 100);
	memset(much, 'x', sizeof(much));
	/* The last two records are still there. */
	ring_output(&r, much, RING_MAX - 3 * INIS_TAPE_SIZE_LEN - 100);
	assert_int_equal(r.rows, 24);
	assert_string_equal(written(&r.modes), "");
	ring_output(&r, much, RING_MAX / 2);
	assert_int_equal(r.rows, 40);
	assert_int_equal(r.cols, 100);
	assert_string_equal(written(&r.modes), "\x1b[?1049h");
	ring_output(&r, much, sizeof(much));
	ring_output(&r, much, sizeof(much));
	assert_true(r.end - r.first <= RING_MAX);
	ring_free(&r);
}

static void modes_are_those_that_are_still_set(void **state)
{
	struct modes m = {0};

	(void)state;
	feed(&m, "plain text, \x1b[1;31mcolours\x1b[0m and \x1b]0;a ?1049h title\x07");
	assert_string_equal(written(&m), "");
	feed(&m, "\x1b[?1049h\x1b[?1h\x1b=\x1b[?25l\x1b[?1000;1006h\x1b[?2004h");
	assert_string_equal(written(&m), "\x1b[?1049h\x1b[?1h\x1b[?25l\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b=");
	feed(&m, "\x1b[?25h\x1b[?1049l\x1b[?1006l\x1b>");
	assert_string_equal(written(&m), "\x1b[?1h\x1b[?1000h\x1b[?2004h");
	feed(&m, "\x1b"
		 "c");
	assert_string_equal(written(&m), "");
}

static void what_looks_like_a_mode_and_is_none_changes_nothing(void **state)
{
	struct modes m = {0};

	(void)state;
	feed(&m, "\x1b[1049h\x1b[?1049$p\x1b[?1049m\x1b[?1049 h\x1b[>1049h\x1b[?99999h\x1b[?h\x1b[?;h");
	feed(&m, "\x1b[?1;2;3;4;5;6;7;8;9;1049h");
	feed(&m, "\x1b[?10\x1b[49h");
	assert_string_equal(written(&m), "");
	/* A control character within a sequence does not end it. */
	feed(&m, "\x1b[?10\n49h");
	assert_string_equal(written(&m), "\x1b[?1049h");
}

static void all_modes_fit_into_the_message(void **state)
{
	struct modes m = {0};

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "\x1b[?%u%c", i, i == 7 || i == 25 ? 'l' : 'h');
		feed(&m, text);
	}
	feed(&m, "\x1b=");
	assert_in_range(strlen(written(&m)), 100, 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_stay_between_the_bytes_they_were_for),
		cmocka_unit_test(what_is_forgotten_is_the_oldest_and_whole),
		cmocka_unit_test(forgotten_sizes_and_modes_count),
		cmocka_unit_test(modes_are_those_that_are_still_set),
		cmocka_unit_test(what_looks_like_a_mode_and_is_none_changes_nothing),
		cmocka_unit_test(all_modes_fit_into_the_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
