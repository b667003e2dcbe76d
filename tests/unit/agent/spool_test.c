/* SPDX-License-Identifier: Apache-2.0
 *
 * spool_test.c - logs on disk: exact offsets, what is kept, who gives way, damage and a full disk.
 */
#include "agent/spool.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fcntl.h>

#include <cmocka.h>

#include "agent/agent.h"

static char dir[] = "/tmp/inis-test-spool-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	agent.spool = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return agent.spool < 0 ? -1 : 0;
}

static int remove_dir(void **state)
{
	(void)state;
	close(agent.spool);
	/* Every spool was removed, so nothing is left in it. */
	return rmdir(dir);
}

/* The byte at an offset, so that any part of a log can be checked. */
static uint8_t byte_at(uint64_t offset)
{
	return (uint8_t)(offset * 31 + (offset >> 8) * 7 + (offset >> 16));
}

static void append(struct spool *s, size_t n)
{
	uint8_t piece[4096];

	while (n > 0) {
		size_t now = n < sizeof(piece) ? n : sizeof(piece);

		for (size_t i = 0; i < now; i++)
			piece[i] = byte_at(s->end + i);
		spool_append(s, piece, now);
		n -= now;
	}
}

/* Reads from an offset to the end; returns how many bytes came, having checked each. */
static uint64_t check_from(struct spool *s, uint64_t offset)
{
	uint8_t buf[5000];
	uint64_t got = 0;
	size_t n;

	while ((n = spool_read(s, &offset, buf, sizeof(buf))) > 0) {
		for (size_t i = 0; i < n; i++)
			assert_int_equal(buf[i], byte_at(offset + i));
		offset += n;
		got += n;
	}
	assert_int_equal(offset, s->end);
	return got;
}

static void every_byte_is_at_its_offset(void **state)
{
	struct spool s;

	(void)state;
	spool_init(&s, "web", false);
	append(&s, 3 * 1024 * 1024 + 17);
	assert_int_equal(spool_first(&s), 0);
	assert_int_equal(check_from(&s, 0), 3 * 1024 * 1024 + 17);
	assert_int_equal(check_from(&s, 1048575), 3 * 1024 * 1024 + 17 - 1048575);
	assert_int_equal(check_from(&s, s.end), 0);
	spool_remove(&s);
}

static void the_last_4_mib_are_kept_and_older_gives_way(void **state)
{
	struct spool s;
	uint64_t first;

	(void)state;
	spool_init(&s, "web", false);
	append(&s, 11 * 1024 * 1024 + 5);
	first = spool_first(&s);
	assert_true(s.end - first >= SPOOL_KEEP);
	assert_true(s.end - first <= SPOOL_KEEP + SPOOL_SEGMENT + 4096);
	/* Asked for something older: moved to the first kept byte, no gap after it. */
	assert_int_equal(check_from(&s, 0), s.end - first);
	spool_remove(&s);
}

static void the_cap_of_the_session_takes_from_exited_ones_first(void **state)
{
	static struct spool list[20];
	static char names[20][16];

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		snprintf(names[i], sizeof(names[i]), "p%u", i);
		spool_init(&list[i], names[i], false);
		append(&list[i], SPOOL_KEEP);
		if (i < 8)
			spool_retire(&list[i]);
	}
	/* 80 MiB were written: 16 had to go, and those that had exited first went first. */
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(list[i].kept, 0);
	for (unsigned i = 5; i < 20; i++)
		assert_int_equal(list[i].kept, SPOOL_KEEP);
	assert_int_equal(check_from(&list[0], 0), 0);
	assert_int_equal(check_from(&list[19], 0), SPOOL_KEEP);
	for (unsigned i = 0; i < 20; i++)
		spool_remove(&list[i]);
}

static void a_damaged_spool_reads_as_missing(void **state)
{
	struct spool s;
	char path[128];

	(void)state;
	spool_init(&s, "web", false);
	append(&s, 2 * SPOOL_SEGMENT);
	snprintf(path, sizeof(path), "%s/web@out@0000000000000000", dir);
	assert_int_equal(unlink(path), 0);
	/* A link in its place is not followed, and nothing waits on it. */
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(check_from(&s, 0), SPOOL_SEGMENT);
	spool_remove(&s);
}

static void a_full_disk_drops_bytes_and_nothing_else(void **state)
{
	struct rlimit old, small = {.rlim_cur = 4096};
	struct spool s;

	(void)state;
	/* A file may grow to 4 KiB: the write after that fails as on a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	spool_init(&s, "web", false);
	append(&s, 100);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	append(&s, 4096);
	append(&s, 4096);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	append(&s, 1000);
	assert_int_equal(s.end, 100 + 8192 + 1000);
	assert_true(check_from(&s, 0) >= 100 + 1000);
	assert_int_equal(check_from(&s, 100 + 8192), 1000);
	spool_remove(&s);
}

static void names_of_processes_do_not_meet(void **state)
{
	struct spool a, b, again;

	(void)state;
	spool_init(&a, "x", false);
	spool_init(&b, "x", true);
	append(&a, 10);
	append(&b, 20);
	assert_int_equal(check_from(&a, 0), 10);
	assert_int_equal(check_from(&b, 0), 20);
	spool_remove(&a);
	spool_init(&again, "x", false);
	append(&again, 5);
	assert_int_equal(check_from(&again, 0), 5);
	spool_remove(&again);
	spool_remove(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_is_at_its_offset),
		cmocka_unit_test(the_last_4_mib_are_kept_and_older_gives_way),
		cmocka_unit_test(the_cap_of_the_session_takes_from_exited_ones_first),
		cmocka_unit_test(a_damaged_spool_reads_as_missing),
		cmocka_unit_test(a_full_disk_drops_bytes_and_nothing_else),
		cmocka_unit_test(names_of_processes_do_not_meet),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
