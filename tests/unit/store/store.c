/* SPDX-License-Identifier: Apache-2.0
 *
 * store.c - what the store promises when nothing goes wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* ---- loading ---- */

struct loaded {
	int count;
	char ids[8][INIS_SESSION_ID_LEN + 1];
	char name[64], external_id[64], doc[64], secrets[64], unit[INIS_UNIT_ID_LEN + 1];
	int has_secrets;
};

static void copy(char to[64], const char *from)
{
	snprintf(to, 64, "%s", from ? from : "(null)");
}

static int on_row(void *ctx, const struct inis_session_row *row, struct inis_error *err)
{
	struct loaded *l = ctx;

	(void)err;
	snprintf(l->ids[l->count++ % 8], sizeof(l->ids[0]), "%s", row->id.s);
	copy(l->name, row->name);
	copy(l->external_id, row->external_id);
	copy(l->doc, row->doc);
	copy(l->secrets, row->secrets);
	snprintf(l->unit, sizeof(l->unit), "%s", row->unit);
	l->has_secrets = row->secrets != NULL;
	return 0;
}

static struct loaded load(struct box *box)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct loaded l = {0};

	assert_int_equal(inis_store_sessions_load(box->store, on_row, &l, &err), 0);
	return l;
}

static void a_stored_session_is_there_after_a_restart(void **state)
{
	struct box *box = *state;
	struct inis_session_row row = box_row(1);
	struct loaded l;

	row.name = "n\xc3\xa4me";
	row.external_id = "ext";
	row.secrets = "{\"TOKEN\":\"hush\"}";
	assert_int_equal(box_put(box, &row), INIS_OK);
	box_close(box);
	box_open(box);
	l = load(box);
	assert_int_equal(l.count, 1);
	assert_string_equal(l.ids[0], row.id.s);
	assert_string_equal(l.name, row.name);
	assert_string_equal(l.external_id, "ext");
	assert_string_equal(l.doc, row.doc);
	assert_string_equal(l.unit, row.unit);
	assert_string_equal(l.secrets, row.secrets);
}

static void a_put_replaces_and_ended_sessions_are_not_loaded(void **state)
{
	struct box *box = *state;
	struct inis_session_row row = box_row(1), other = box_row(2);
	struct loaded l;

	assert_int_equal(box_put(box, &row), INIS_OK);
	assert_int_equal(box_put(box, &other), INIS_OK);
	row.doc = "{\"size\":\"large\"}";
	assert_int_equal(box_put(box, &row), INIS_OK);
	other.ended_at = inis_wall_ms();
	assert_int_equal(box_put(box, &other), INIS_OK);
	l = load(box);
	assert_int_equal(l.count, 1);
	assert_string_equal(l.doc, "{\"size\":\"large\"}");
	assert_int_equal(l.has_secrets, 0);
}

static int refuse(void *ctx, const struct inis_session_row *row, struct inis_error *err)
{
	(*(int *)ctx)++;
	return inis_fail(err, INIS_INTERNAL, "no room for %s", row->id.s);
}

static void a_failing_callback_stops_loading_with_its_error(void **state)
{
	struct box *box = *state;
	struct inis_session_row row = box_row(1), other = box_row(2);
	struct inis_error err = INIS_ERROR_INIT;
	int calls = 0;

	assert_int_equal(box_put(box, &row), INIS_OK);
	assert_int_equal(box_put(box, &other), INIS_OK);
	assert_int_equal(inis_store_sessions_load(box->store, refuse, &calls, &err), -1);
	assert_int_equal(calls, 1);
	assert_non_null(strstr(err.message, "no room for"));
}

static void a_row_is_there_after_kill_9_once_its_callback_came(void **state)
{
	struct box *box = *state;
	struct loaded l;
	int ends[2], status;
	char byte;
	pid_t pid;

	box_close(box);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		struct box mine = *box;
		struct inis_session_row row = box_row(7);

		uv_loop_init(&mine.loop);
		box_open(&mine);
		if (box_put(&mine, &row) == INIS_OK && write(ends[1], "k", 1) == 1)
			pause();
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	box_open(box);
	l = load(box);
	assert_int_equal(l.count, 1);
	assert_string_equal(l.ids[0], box_row(7).id.s);
}

/* ---- group commit ---- */

struct order {
	int next;
	int wrong;
	int all;
};

struct ticket {
	struct order *order;
	int n;
};

static void on_ordered(void *ctx, const struct inis_error *err)
{
	struct ticket *t = ctx;

	t->order->wrong += err != NULL || t->n != t->order->next;
	t->order->all = ++t->order->next == 500;
}

static void many_writes_at_once_are_answered_each_and_in_order(void **state)
{
	static struct ticket tickets[500];
	struct box *box = *state;
	struct order order = {0};

	for (int i = 0; i < 500; i++) {
		struct inis_session_row row = box_row(i);

		tickets[i] = (struct ticket){&order, i};
		assert_int_equal(inis_store_session_put(box->store, &row, on_ordered, &tickets[i], NULL), 0);
	}
	box_run_until(box, &order.all);
	assert_int_equal(order.wrong, 0);
	assert_int_equal(load(box).count, 500);
}

static void closing_finishes_what_is_queued(void **state)
{
	static struct ticket tickets[500];
	struct box *box = *state;
	struct order order = {0};

	for (int i = 0; i < 500; i++) {
		struct inis_session_row row = box_row(i);

		tickets[i] = (struct ticket){&order, i};
		assert_int_equal(inis_store_session_put(box->store, &row, on_ordered, &tickets[i], NULL), 0);
	}
	box_close(box);
	assert_int_equal(order.next, 500);
	assert_int_equal(order.wrong, 0);
	box_open(box);
	assert_int_equal(load(box).count, 500);
}

static void a_put_without_haste_keeps_its_place_in_the_order(void **state)
{
	struct box *box = *state;
	struct order order = {.next = 498};
	struct inis_session_row row = box_row(1);
	struct ticket tickets[2] = {{&order, 498}, {&order, 499}};

	row.name = "early";
	assert_int_equal(inis_store_session_put_later(box->store, &row, on_ordered, &tickets[0], NULL), 0);
	row.name = "late";
	assert_int_equal(inis_store_session_put(box->store, &row, on_ordered, &tickets[1], NULL), 0);
	box_run_until(box, &order.all);
	assert_int_equal(order.wrong, 0);
	assert_string_equal(load(box).name, "late");
}

static void a_put_without_haste_is_stored_without_company(void **state)
{
	struct box *box = *state;
	struct order order = {.next = 499};
	struct inis_session_row row = box_row(1);
	struct ticket ticket = {&order, 499};

	assert_int_equal(inis_store_session_put_later(box->store, &row, on_ordered, &ticket, NULL), 0);
	box_run_until(box, &order.all);
	assert_int_equal(load(box).count, 1);
}

static void what_is_forgotten_was_never_stored(void **state)
{
	struct box *box = *state;
	struct inis_session_row row = box_row(1);
	struct inis_session_row other = box_row(2);

	assert_int_equal(box_put(box, &row), INIS_OK);
	inis_store_session_forget(box->store, &row.id);
	assert_int_equal(box_put(box, &other), INIS_OK);
	assert_int_equal(load(box).count, 1);
	box_close(box);
	box_open(box);
	assert_int_equal(load(box).count, 1);
}

/* ---- history ---- */

struct page {
	int came;
	int failed;
	size_t count;
	char ids[16][INIS_SESSION_ID_LEN + 1];
	inis_ms created_at;
	char end_reason[64];
};

static void on_page(void *ctx, const struct inis_session_row *rows, size_t count, const struct inis_error *err)
{
	struct page *p = ctx;

	p->came = 1;
	p->failed = err != NULL;
	p->count = count;
	for (size_t i = 0; i < count && i < 16; i++)
		snprintf(p->ids[i], sizeof(p->ids[i]), "%s", rows[i].id.s);
	if (count > 0) {
		p->created_at = rows[count - 1].created_at;
		copy(p->end_reason, rows[count - 1].end_reason);
	}
}

static struct page ask(struct box *box, const struct inis_history_query *q)
{
	struct page p = {0};

	assert_int_equal(inis_store_history(box->store, q, on_page, &p, NULL), 0);
	box_run_until(box, &p.came);
	assert_int_equal(p.failed, 0);
	return p;
}

static void put_ended(struct box *box, int n, inis_ms created_at, const char *external_id)
{
	struct inis_session_row row = box_row(n);

	row.created_at = created_at;
	row.ended_at = inis_wall_ms();
	row.end_reason = "idle_timeout";
	row.external_id = external_id;
	assert_int_equal(box_put(box, &row), INIS_OK);
}

static void history_comes_in_pages_newest_first_without_gaps_or_doubles(void **state)
{
	struct box *box = *state;
	struct inis_history_query q = {.limit = 4};
	struct page p;
	int seen = 9;

	for (int i = 0; i < 10; i++)
		put_ended(box, i, 1000 + i / 3, NULL); /* several share a time */
	for (;;) {
		p = ask(box, &q);
		for (size_t i = 0; i < p.count; i++)
			assert_string_equal(p.ids[i], box_row(seen--).id.s);
		if (p.count < q.limit)
			break;
		q.before_created_at = p.created_at;
		memcpy(q.before_id, p.ids[p.count - 1], sizeof(q.before_id));
	}
	assert_int_equal(seen, -1);
	assert_string_equal(p.end_reason, "idle_timeout");
}

static void history_can_be_asked_by_external_id(void **state)
{
	struct box *box = *state;
	struct inis_history_query q = {.limit = 10, .external_id = "mine"};
	struct page p;

	put_ended(box, 1, 1, "mine");
	put_ended(box, 2, 2, "other");
	put_ended(box, 3, 3, "mine");
	put_ended(box, 4, 4, NULL);
	p = ask(box, &q);
	assert_int_equal(p.count, 2);
	assert_string_equal(p.ids[0], box_row(3).id.s);
	assert_string_equal(p.ids[1], box_row(1).id.s);
}

static void one_ended_session_can_be_asked_by_id_and_a_live_one_is_not_history(void **state)
{
	struct box *box = *state;
	struct inis_session_row live = box_row(1), ended = box_row(2);
	struct page p = {0};

	assert_int_equal(box_put(box, &live), INIS_OK);
	put_ended(box, 2, 2, NULL);
	assert_int_equal(inis_store_history_get(box->store, &ended.id, on_page, &p, NULL), 0);
	box_run_until(box, &p.came);
	assert_int_equal(p.count, 1);
	p.came = 0;
	assert_int_equal(inis_store_history_get(box->store, &live.id, on_page, &p, NULL), 0);
	box_run_until(box, &p.came);
	assert_int_equal(p.count, 0);
}

static void ended_sessions_are_forgotten_after_their_time(void **state)
{
	struct box *box = *state;
	struct inis_history_query q = {.limit = 10};
	struct inis_session_row old = box_row(1), live = box_row(2);
	struct inis_error err = INIS_ERROR_INIT;

	old.ended_at = inis_wall_ms() - 40 * DAY_MS;
	old.doc = "{\"mark\":\"long-forgotten\"}";
	live.created_at = inis_wall_ms() - 40 * DAY_MS;
	assert_int_equal(box_put(box, &old), INIS_OK);
	assert_int_equal(box_put(box, &live), INIS_OK);
	put_ended(box, 3, 3, NULL);
	assert_int_equal(ask(box, &q).count, 1);
	box_close(box);
	assert_int_equal(box_try_open(box, 30 * DAY_MS, &err), 0);
	box_close(box); /* the first thing its writer does is to prune */
	assert_int_equal(box_try_open(box, 400 * DAY_MS, &err), 0);
	assert_int_equal(ask(box, &q).count, 1);
	assert_int_equal(load(box).count, 1);
}

/* ---- secrets and keys ---- */

static void secrets_and_keys_are_in_no_file_in_clear(void **state)
{
	static const char *const tokens[] = {"sk_visible_key"};
	struct box *box = *state;
	struct inis_session_row row = box_row(1);

	row.secrets = "{\"TOKEN\":\"plain-secret-value\"}";
	row.doc = "{\"mark\":\"doc-is-readable\"}";
	assert_int_equal(box_put(box, &row), INIS_OK);
	assert_int_equal(inis_store_keys_set(box->store, tokens, 1, NULL), 0);
	assert_true(box_files_hold(box, "doc-is-readable"));
	assert_false(box_files_hold(box, "plain-secret-value"));
	assert_false(box_files_hold(box, "sk_visible_key"));
	box_close(box);
	assert_true(box_files_hold(box, "doc-is-readable"));
	assert_false(box_files_hold(box, "plain-secret-value"));
	assert_false(box_files_hold(box, "sk_visible_key"));
}

static void files_are_for_their_owner_only(void **state)
{
	static const char *const names[] = {"db", "db-wal", "master.key"};
	struct box *box = *state;
	struct inis_session_row row = box_row(1);

	assert_int_equal(box_put(box, &row), INIS_OK);
	for (size_t i = 0; i < 3; i++) {
		char path[256];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", box->dir, names[i]);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
}

static void keys_are_valid_until_replaced_and_survive_a_restart(void **state)
{
	static const char *const first[] = {"sk_one", "sk_two"};
	static const char *const second[] = {"sk_three"};
	struct box *box = *state;

	assert_int_equal(inis_store_key_find(box->store, "sk_one"), -1);
	assert_int_equal(inis_store_keys_set(box->store, first, 2, NULL), 0);
	assert_true(inis_store_key_find(box->store, "sk_one") >= 0);
	assert_true(inis_store_key_find(box->store, "sk_two") >= 0);
	assert_int_equal(inis_store_key_find(box->store, "sk_on"), -1);
	assert_int_equal(inis_store_key_find(box->store, ""), -1);
	assert_int_equal(inis_store_key_find(box->store, NULL), -1);
	box_close(box);
	box_open(box);
	assert_true(inis_store_key_find(box->store, "sk_two") >= 0);
	assert_int_equal(inis_store_keys_set(box->store, second, 1, NULL), 0);
	assert_int_equal(inis_store_key_find(box->store, "sk_two"), -1);
	assert_true(inis_store_key_find(box->store, "sk_three") >= 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, box_set_up, box_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_stored_session_is_there_after_a_restart),
		CASE(a_put_replaces_and_ended_sessions_are_not_loaded),
		CASE(a_failing_callback_stops_loading_with_its_error),
		CASE(a_row_is_there_after_kill_9_once_its_callback_came),
		CASE(many_writes_at_once_are_answered_each_and_in_order),
		CASE(closing_finishes_what_is_queued),
		CASE(a_put_without_haste_keeps_its_place_in_the_order),
		CASE(a_put_without_haste_is_stored_without_company),
		CASE(what_is_forgotten_was_never_stored),
		CASE(history_comes_in_pages_newest_first_without_gaps_or_doubles),
		CASE(history_can_be_asked_by_external_id),
		CASE(one_ended_session_can_be_asked_by_id_and_a_live_one_is_not_history),
		CASE(ended_sessions_are_forgotten_after_their_time),
		CASE(secrets_and_keys_are_in_no_file_in_clear),
		CASE(files_are_for_their_owner_only),
		CASE(keys_are_valid_until_replaced_and_survive_a_restart),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
