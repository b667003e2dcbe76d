/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - when memory runs out, one call fails and the store lives on.
 *
 * The linker sends the library's allocations through here, SQLite's come by its own
 * hook, and the n-th one fails, for every n that a call gets to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *p, size_t n);

static atomic_int until_failure; /* 0: none is to fail */
static atomic_int failures;

static bool fails(void)
{
	int left = atomic_load(&until_failure);

	while (left > 0 && !atomic_compare_exchange_weak(&until_failure, &left, left - 1))
		;
	if (left != 1)
		return false;
	atomic_fetch_add(&failures, 1);
	return true;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t count, size_t n)
{
	return fails() ? NULL : __real_calloc(count, n);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

static sqlite3_mem_methods sqlite_memory;

static void *sqlite_malloc(int n)
{
	return fails() ? NULL : sqlite_memory.xMalloc(n);
}

static void *sqlite_realloc(void *p, int n)
{
	return fails() ? NULL : sqlite_memory.xRealloc(p, n);
}

static void hook_sqlite(void)
{
	sqlite3_mem_methods mine;

	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory);
	mine = sqlite_memory;
	mine.xMalloc = sqlite_malloc;
	mine.xRealloc = sqlite_realloc;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &mine);
}

static void assert_is_lack_of_memory(enum inis_code code)
{
	if (code != INIS_OK && code != INIS_UNAVAILABLE && code != INIS_INTERNAL)
		fail_msg("code %d", code);
}

/* ---- the calls ---- */

static void try_put(struct box *box)
{
	struct inis_session_row row = box_row(1);

	row.name = "n";
	row.secrets = "{\"A\":\"b\"}";
	assert_is_lack_of_memory(box_put(box, &row));
}

static void on_rows(void *ctx, const struct inis_session_row *rows, size_t count, const struct inis_error *err)
{
	(void)rows;
	assert_is_lack_of_memory(err ? err->code : INIS_OK);
	assert_true(count <= 3);
	*(int *)ctx = 1;
}

static void try_history(struct box *box)
{
	struct inis_history_query q = {.limit = 10, .external_id = "e"};
	struct inis_error err = INIS_ERROR_INIT;
	int came = 0;

	if (inis_store_history(box->store, &q, on_rows, &came, &err) < 0)
		assert_is_lack_of_memory(err.code);
	else
		box_run_until(box, &came);
}

static void try_keys(struct box *box)
{
	static const char *const tokens[] = {"sk_a", "sk_b"};
	struct inis_error err = INIS_ERROR_INIT;

	if (inis_store_keys_set(box->store, tokens, 2, &err) < 0)
		assert_is_lack_of_memory(err.code);
}

static int on_row(void *ctx, const struct inis_session_row *row, struct inis_error *err)
{
	(void)ctx;
	(void)row;
	(void)err;
	return 0;
}

static void try_load(struct box *box)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (inis_store_sessions_load(box->store, on_row, NULL, &err) < 0)
		assert_is_lack_of_memory(err.code);
}

static void try_reopen(struct box *box)
{
	struct inis_error err = INIS_ERROR_INIT;
	int armed = atomic_exchange(&until_failure, 0);

	box_close(box);
	atomic_store(&until_failure, armed);
	if (box_try_open(box, 30 * DAY_MS, &err) < 0) {
		assert_is_lack_of_memory(err.code);
		atomic_store(&until_failure, 0);
		uv_run(&box->loop, UV_RUN_DEFAULT);
		box_open(box);
	}
}

static void fill(struct box *box)
{
	for (int i = 10; i < 13; i++) {
		struct inis_session_row row = box_row(i);

		row.external_id = "e";
		row.ended_at = inis_wall_ms();
		assert_int_equal(box_put(box, &row), INIS_OK);
	}
}

static void when_memory_runs_out_one_call_fails_and_the_store_lives_on(void **state)
{
	static void (*const calls[])(struct box *) = {try_put, try_history, try_keys, try_load, try_reopen};
	struct box box;
	int failed = 0;

	(void)state;
	box_make(&box);
	box_open(&box);
	fill(&box);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		for (int n = 1; n < 3000; n += n < 30 ? 1 : 11) { /* the first are ours, the rest SQLite's */
			struct inis_session_row row = box_row(2);
			int before = atomic_load(&failures);

			atomic_store(&until_failure, n);
			calls[i](&box);
			atomic_store(&until_failure, 0);
			if (atomic_load(&failures) == before)
				break;
			failed++;
			assert_int_equal(box_put(&box, &row), INIS_OK);
		}
	}
	assert_true(failed > 20);
	box_remove(&box);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_memory_runs_out_one_call_fails_and_the_store_lives_on),
	};

	hook_sqlite();
	return cmocka_run_group_tests_name("store_memory", tests, NULL, NULL);
}
