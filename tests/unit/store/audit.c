/* SPDX-License-Identifier: Apache-2.0
 *
 * audit.c - the log of commands: in order, complete, page by page, and gone with the history.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "store/audit.h"
#include "support.h"

struct page {
	int done;
	enum inis_code code;
	size_t count;
	int64_t seq[64];
	inis_ms ended_at[64];
	char doc[64][32];
};

static void on_page(void *ctx, const struct inis_audit_row *rows, size_t count, const struct inis_error *err)
{
	struct page *p = ctx;

	p->done = 1;
	p->code = err ? err->code : INIS_OK;
	p->count = count;
	for (size_t i = 0; i < count && i < 64; i++) {
		p->seq[i] = rows[i].seq;
		p->ended_at[i] = rows[i].ended_at;
		snprintf(p->doc[i], sizeof(p->doc[i]), "%s", rows[i].doc);
	}
}

static struct page list(struct box *box, int session, int64_t before, unsigned limit)
{
	struct inis_session_row row = box_row(session);
	struct page p = {0};

	assert_int_equal(inis_store_audit_list(box->store, &row.id, before, limit, on_page, &p, NULL), 0);
	box_run_until(box, &p.done);
	assert_int_equal(p.code, INIS_OK);
	return p;
}

static int64_t put(struct box *box, int session, inis_ms at, const char *doc)
{
	struct inis_audit_row row = {
		.seq = inis_store_audit_next(box->store), .session = box_row(session).id, .at = at, .doc = doc};

	inis_store_audit_put(box->store, &row);
	return row.seq;
}

static void what_was_put_is_listed_the_latest_first(void **state)
{
	struct box *box = *state;
	int64_t first = put(box, 1, inis_wall_ms(), "{\"a\":1}");
	int64_t second = put(box, 1, inis_wall_ms(), "{\"a\":2}");
	struct page p;

	put(box, 2, inis_wall_ms(), "{\"other\":1}");
	p = list(box, 1, INT64_MAX, 10);
	assert_int_equal(p.count, 2);
	assert_int_equal(p.seq[0], second);
	assert_int_equal(p.seq[1], first);
	assert_string_equal(p.doc[0], "{\"a\":2}");
	assert_int_equal(list(box, 3, INT64_MAX, 10).count, 0);
}

static void a_row_that_is_put_again_is_replaced(void **state)
{
	struct box *box = *state;
	struct inis_audit_row row = {.seq = put(box, 1, inis_wall_ms(), "{}"),
				     .session = box_row(1).id,
				     .at = inis_wall_ms(),
				     .ended_at = 77,
				     .doc = "{\"exit_code\":0}"};
	struct page p;

	inis_store_audit_put(box->store, &row);
	p = list(box, 1, INT64_MAX, 10);
	assert_int_equal(p.count, 1);
	assert_int_equal(p.ended_at[0], 77);
	assert_string_equal(p.doc[0], "{\"exit_code\":0}");
}

static void pages_lead_through_all_rows(void **state)
{
	struct box *box = *state;
	int64_t before = INT64_MAX, seen = 0;
	struct page p;

	for (int i = 0; i < 25; i++)
		put(box, 1, inis_wall_ms(), "{}");
	do {
		p = list(box, 1, before, 10);
		for (size_t i = 0; i < p.count; i++) {
			assert_true(p.seq[i] < before);
			before = p.seq[i];
			seen++;
		}
	} while (p.count > 0);
	assert_int_equal(seen, 25);
}

static void rows_that_nobody_asked_for_are_written_and_numbers_go_on(void **state)
{
	struct box *box = *state;
	int64_t last = put(box, 1, inis_wall_ms(), "{}");

	box_close(box);
	box_open(box);
	assert_int_equal(list(box, 1, INT64_MAX, 10).count, 1);
	assert_true(put(box, 1, inis_wall_ms(), "{}") > last);
}

static void rows_go_with_the_history(void **state)
{
	struct box *box = *state;

	put(box, 1, inis_wall_ms() - 40 * DAY_MS, "{\"very-old\":1}");
	put(box, 1, inis_wall_ms() - 5 * DAY_MS, "{}");
	assert_int_equal(list(box, 1, INT64_MAX, 10).count, 1); /* is not shown any more */
	box_close(box);
	box_open(box);
	box_close(box); /* the first thing its writer does is to prune */
	box_open(box);
	assert_int_equal(list(box, 1, INT64_MAX, 10).count, 1);
	box_close(box);
	assert_int_equal(box_try_open(box, 365 * DAY_MS, NULL), 0);
	assert_int_equal(list(box, 1, INT64_MAX, 10).count, 1); /* nor is it there */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, box_set_up, box_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_was_put_is_listed_the_latest_first),
		CASE(a_row_that_is_put_again_is_replaced),
		CASE(pages_lead_through_all_rows),
		CASE(rows_that_nobody_asked_for_are_written_and_numbers_go_on),
		CASE(rows_go_with_the_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
