/* SPDX-License-Identifier: Apache-2.0
 *
 * template_sandbox.c - what a step of a template's build can reach, and what it leaves.
 */
#include "cli/template_sandbox.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "os/path.h"

struct bench {
	char path[64];
	int dir, tree, debs;
	struct template_steps steps;
	struct template_group group;
};

static int bench_make(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	sigset_t none;

	if (!b)
		return -1;
	*state = b;
	sigemptyset(&none);
	snprintf(b->path, sizeof(b->path), "/tmp/inis-steps-test.XXXXXX");
	b->dir = mkdtemp(b->path) ? inis_open_dir(b->path, NULL) : -1;
	b->tree = inis_make_dir_at(b->dir, "tree", 0755, NULL);
	b->debs = inis_make_dir_at(b->dir, "debs", 0755, NULL);
	b->steps.log = openat(b->dir, "log", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	b->steps.interrupts = signalfd(-1, &none, SFD_CLOEXEC);
	b->group.v2 = -1;
	b->steps.group = &b->group;
	b->steps.deadline = INIS_NEVER;
	return b->tree < 0 || b->debs < 0 || mkdirat(b->tree, "debs", 0755) < 0 ||
	       inis_create_at(b->debs, "package", "bytes", 0644, NULL) < 0;
}

static int bench_drop(void **state)
{
	struct bench *b = *state;
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);
	int rc;

	template_group_close(&b->group);
	rc = inis_remove_tree_at(tmp, strrchr(b->path, '/') + 1, NULL);
	close(b->dir);
	close(b->tree);
	close(b->debs);
	close(b->steps.log);
	close(b->steps.interrupts);
	free(b);
	return rc;
}

static void needs_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("skipped: a sandbox for builds needs root\n");
	skip();
}

static void succeeds(const struct bench *b, const char *script)
{
	struct inis_error err = INIS_ERROR_INIT;
	char text[2000] = "";

	needs_root();
	if (template_step_confined(&b->steps, script, b->tree, b->debs, false, &err) == 0)
		return;
	assert_true(pread(b->steps.log, text, sizeof(text) - 1, 0) >= 0);
	fail_msg("%s: %s\n%s", script, err.message, text);
}

/* Subshells that wait for a pipe that nobody writes to; the shell ends when the kernel gives it no more. */
static void T7_a_step_that_starts_processes_without_end_fails_by_itself(void **state)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct bench *b = *state;

	succeeds(b, "grep -q '^Max processes *1024 *1024 ' /proc/self/limits && "
		    "grep -q '^Max data size *4294967296 ' /proc/self/limits && "
		    "grep -q '^Max core file size *0 *0 ' /proc/self/limits");
	assert_int_equal(template_step_confined(&b->steps,
						"mkfifo /mnt/never; i=0; while [ $i -lt 1500 ]; do "
						"read x </mnt/never & i=$((i+1)); done; exit 0",
						b->tree, b->debs, false, &err),
			 -1);
}

static void T7_a_step_writes_only_its_tree_with_the_ids_it_has(void **state)
{
	const struct bench *b = *state;
	struct stat st;

	succeeds(b, "id -u | grep -qx 0 && echo x >file && chown 7:8 file && chmod 4755 file");
	assert_int_equal(fstatat(b->tree, "file", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_uid, 7);
	assert_int_equal(st.st_gid, 8);
	assert_int_equal(st.st_mode & 07777, 04755);
	succeeds(b, "! touch /tmp/inis-escape 2>/dev/null && ! touch /var/tmp/inis-escape 2>/dev/null &&"
		    " ! touch /dev/shm/inis-escape 2>/dev/null && ! touch debs/more 2>/dev/null &&"
		    " test \"$(cat debs/package)\" = bytes");
}

static void T7_a_step_sees_no_secret_no_network_and_no_other_process(void **state)
{
	const struct bench *b = *state;

	succeeds(b, "! cat /etc/shadow 2>/dev/null && ! ls /root 2>/dev/null");
	succeeds(b, "test $$ = 1");
	succeeds(b, "! kill -0 2 2>/dev/null");
	succeeds(b, "python3 -c 'import socket; assert [n for _, n in socket.if_nameindex()] == [\"lo\"]'");
	succeeds(b, "! mknod disk b 8 0 2>/dev/null");
}

static void a_step_that_fails_is_a_failure_and_its_words_are_in_the_log(void **state)
{
	const struct bench *b = *state;
	struct inis_error err = INIS_ERROR_INIT;
	char text[64] = "";

	needs_root();
	assert_int_equal(template_step_confined(&b->steps, "echo why >&2; exit 3", b->tree, b->debs, false, &err), -1);
	assert_non_null(strstr(err.message, "3"));
	assert_true(pread(b->steps.log, text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, "why\n");
}

/* ---- limits of all processes of a build together ---- */

static void limit(struct bench *b, uint32_t mem_mb, uint32_t processes)
{
	const struct template_limits limits = {.mem_mb = mem_mb, .processes = processes, .time_ms = 1000};
	struct inis_error err = INIS_ERROR_INIT;

	needs_root();
	if (template_group_open(&b->group, b->dir, &limits, &err) < 0)
		fail_msg("%s", err.message);
}

/* As a step of either kind. */
static void fails_saying(struct bench *b, const char *script, const char *why)
{
	static const char *const none[] = {NULL};
	struct inis_error confined = INIS_ERROR_INIT, free = INIS_ERROR_INIT;

	assert_int_equal(template_step_confined(&b->steps, script, b->tree, b->debs, false, &confined), -1);
	if (!strstr(confined.message, why))
		fail_msg("%s: %s", script, confined.message);
	assert_int_equal(template_step_run(&b->steps, script, none, &free), -1);
	if (!strstr(free.message, why))
		fail_msg("%s: %s", script, free.message);
}

static void T7_the_memory_of_all_processes_of_a_step_is_limited(void **state)
{
	struct bench *b = *state;

	limit(b, 64, 0);
	succeeds(b, "python3 -c 'held = b\"x\" * (40 << 20)'");
	/* Each alone would fit. */
	fails_saying(b,
		     "python3 -c 'import subprocess\n"
		     "held = b\"x\" * (40 << 20)\n"
		     "subprocess.run([\"python3\", \"-c\", \"held = b\\x27x\\x27 * (40 << 20)\"], check=True)'",
		     "more memory than 64 MB (--memory)");
}

static void T7_the_number_of_all_processes_of_a_step_is_limited(void **state)
{
	struct bench *b = *state;

	limit(b, 0, 20);
	succeeds(b, "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1 & done; wait");
	fails_saying(b, "i=0; while [ $i -lt 40 ]; do sleep 1 & i=$((i+1)); done; wait",
		     "more than 20 processes (--processes)");
}

static void T7_a_step_that_takes_too_long_is_ended_with_all_that_it_started(void **state)
{
	static const char *const none[] = {NULL};
	struct inis_error err = INIS_ERROR_INIT;
	struct bench *b = *state;
	struct inis_cgroup_usage usage;

	limit(b, 0, 100);
	b->steps.deadline = inis_deadline_in(300);
	assert_int_equal(template_step_run(&b->steps, "setsid sleep 86399 & sleep 86399", none, &err), -1);
	assert_string_equal(err.message, "a build may take 1 s (--timeout)");
	template_group_close(&b->group);
	assert_int_equal(inis_cgroup_usage(&b->group.root, b->group.name, &usage, NULL), -1);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, bench_make, bench_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(T7_a_step_writes_only_its_tree_with_the_ids_it_has),
		TEST(T7_a_step_that_starts_processes_without_end_fails_by_itself),
		TEST(T7_a_step_sees_no_secret_no_network_and_no_other_process),
		TEST(T7_the_memory_of_all_processes_of_a_step_is_limited),
		TEST(T7_the_number_of_all_processes_of_a_step_is_limited),
		TEST(T7_a_step_that_takes_too_long_is_ended_with_all_that_it_started),
		TEST(a_step_that_fails_is_a_failure_and_its_words_are_in_the_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
