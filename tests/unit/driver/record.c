/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c - a row of the unit table is read back as written, and anything else is refused.
 */
#include "driver/container/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "os/path.h"
#include "wire/broker_proto.h"

static const struct unit_id id = {"abcdefgh01234567"};

static struct record sample(void)
{
	struct record r;

	record_init(&r);
	r.id = id;
	strcpy(r.session.s, "abcdefghijklmnopqrstu");
	strcpy(r.boot_id, "0f0f0f0f-0000-0000-0000-000000000000");
	strcpy(r.base, "host/base1");
	r.pid = 4242;
	r.start_time = 99;
	r.uid_base = 0x20000000;
	r.disk_kind = INIS_DISK_HARD;
	r.disk_mb = 10240;
	r.loop = 3;
	return r;
}

static void a_record_is_read_back_as_written(void **state)
{
	char path[] = "/tmp/inis-record-test.XXXXXX";
	struct record r = sample();
	struct record back;
	enum record_stage stage;
	cleanup_close int dir = -1;
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);

	(void)state;
	assert_non_null(mkdtemp(path));
	dir = inis_open_dir(path, NULL);
	assert_int_equal(record_read(dir, &id, &back, &stage, NULL), -1);
	assert_int_equal(record_write(dir, &r, NULL), 0);
	assert_int_equal(record_read(dir, &id, &back, &stage, NULL), 0);
	assert_memory_equal(&r, &back, sizeof(r));
	r.session.s[0] = '\0';
	assert_int_equal(record_write(dir, &r, NULL), 0);
	assert_int_equal(record_read(dir, &id, &back, &stage, NULL), 0);
	assert_string_equal(back.session.s, "");
	assert_int_equal(stage, RECORD_IN_USE);
	for (enum record_stage to = RECORD_ENDING; to <= RECORD_EMPTIED; to++) {
		record_advance(dir, to);
		assert_int_equal(record_read(dir, &id, &back, &stage, NULL), 0);
		assert_int_equal(stage, to);
	}
	inis_remove_tree_at(tmp, strrchr(path, '/') + 1, NULL);
}

static void refuse(const struct record *r, size_t n)
{
	struct record out;

	assert_int_equal(record_check(r, n, &id, &out, NULL), -1);
}

static void a_record_with_any_field_wrong_is_refused(void **state)
{
	struct record r = sample();
	struct record out;

	(void)state;
	assert_int_equal(record_check(&r, sizeof(r), &id, &out, NULL), 0);
	refuse(&r, sizeof(r) - 1);
	refuse(&r, 0);
	r.magic++;
	refuse(&r, sizeof(r));
	r = sample();
	r.version++;
	refuse(&r, sizeof(r));
	r = sample();
	r.id.s[0] = 'z';
	refuse(&r, sizeof(r));
	r = sample();
	memset(r.session.s, 'a', sizeof(r.session.s));
	refuse(&r, sizeof(r));
	r = sample();
	strcpy(r.session.s, "../../../etc/passwd.x");
	refuse(&r, sizeof(r));
	r = sample();
	strcpy(r.base, "../x");
	refuse(&r, sizeof(r));
	strcpy(r.base, "host/../x");
	refuse(&r, sizeof(r));
	strcpy(r.base, "debian-0123456789abcde/");
	refuse(&r, sizeof(r));
	strcpy(r.base, "debian-0123456789abcdef");
	assert_int_equal(record_check(&r, sizeof(r), &id, &out, NULL), 0);
	r = sample();
	r.pid = 1;
	refuse(&r, sizeof(r));
	r = sample();
	r.disk_kind = 9;
	refuse(&r, sizeof(r));
	r = sample();
	r.loop = -2;
	refuse(&r, sizeof(r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_read_back_as_written),
		cmocka_unit_test(a_record_with_any_field_wrong_is_refused),
	};

	return cmocka_run_group_tests_name("driver_record", tests, NULL, NULL);
}
