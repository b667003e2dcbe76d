/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup.c - which hierarchies a machine has is read from mountinfo; limits and usage are written and read back.
 */
#include "os/cgroup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "os/path.h"

static void a_hybrid_machine_has_v1_controllers_beside_v2(void **state)
{
	static struct inis_cgroup_layout l;

	(void)state;
	inis_cgroup_layout_parse("31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
				 "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup "
				 "rw,cpu,cpuacct\n"
				 "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
				 "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
				 "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
				 "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
				 "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
				 &l);
	assert_string_equal(l.v2, "/sys/fs/cgroup/unified");
	assert_string_equal(l.v1[INIS_V1_CPU], "/sys/fs/cgroup/cpu,cpuacct");
	assert_string_equal(l.v1[INIS_V1_MEMORY], "/sys/fs/cgroup/memory");
	assert_string_equal(l.v1[INIS_V1_PIDS], "/sys/fs/cgroup/pids");
}

static void a_v2_machine_has_one_tree(void **state)
{
	static struct inis_cgroup_layout l;

	(void)state;
	inis_cgroup_layout_parse("24 1 0:21 / /proc rw - proc proc rw\n"
				 "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate",
				 &l);
	assert_string_equal(l.v2, "/sys/fs/cgroup");
	assert_string_equal(l.v1[INIS_V1_MEMORY], "");
}

static void nonsense_is_no_hierarchy(void **state)
{
	static struct inis_cgroup_layout l;

	(void)state;
	inis_cgroup_layout_parse("", &l);
	assert_string_equal(l.v2, "");
	inis_cgroup_layout_parse("cgroup2\n - \n1 2 3 - cgroup2\n\n - cgroup2 cgroup2 rw", &l);
	assert_string_equal(l.v2, "");
}

static void a_field_is_found_by_its_whole_name_only(void **state)
{
	uint64_t value = 7;

	(void)state;
	assert_false(inis_cgroup_field("oom_kill_disable 0\nunder_oom 0\n", "oom_kill", &value));
	assert_true(inis_cgroup_field("oom_kill_disable 0\noom_kill 12\n", "oom_kill", &value));
	assert_int_equal(value, 12);
	assert_false(inis_cgroup_field("", "oom_kill", &value));
}

/* The files of a v2 tree are stood in for by plain ones: what is written, and where, is what counts. */
static void limits_of_a_v2_machine_go_into_the_unit_group(void **state)
{
	char path[] = "/tmp/inis-cgroup-test.XXXXXX";
	struct inis_cgroup_root root = {.v1 = {-1, -1, -1}, .limits_v2 = true};
	const struct inis_cgroup_limits limits = {.vcpus = 2, .mem_mb = 512, .pids_max = 100};
	static const char *const files[] = {"cpu.max", "memory.max", "memory.swap.max", "pids.max"};
	static const char *const expected[] = {"200000 100000", "536870912", "0", "100"};
	cleanup_close int unit = -1;
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);

	(void)state;
	assert_non_null(mkdtemp(path));
	root.v2 = inis_open_dir(path, NULL);
	unit = inis_make_dir_at(root.v2, "unit", 0755, NULL);
	for (int i = 0; i < 4; i++)
		assert_int_equal(inis_create_at(unit, files[i], "", 0644, NULL), 0);
	assert_int_equal(inis_cgroup_limit(&root, "unit", &limits, NULL), 0);
	for (int i = 0; i < 4; i++) {
		char text[64];

		assert_true(inis_read_at(unit, files[i], text, sizeof(text), NULL) > 0);
		assert_string_equal(text, expected[i]);
	}
	/* A kernel without swap accounting has no such file. */
	assert_int_equal(unlinkat(unit, "memory.swap.max", 0), 0);
	assert_int_equal(inis_cgroup_limit(&root, "unit", &limits, NULL), 0);
	close(root.v2);
	inis_remove_tree_at(tmp, strrchr(path, '/') + 1, NULL);
}

static void groups_of_this_machine_are_limited_and_removed(void **state)
{
	struct inis_cgroup_root root;
	struct inis_cgroup_limits limits = {.vcpus = 1, .mem_mb = 64, .pids_max = 16};
	struct inis_cgroup_usage usage;
	struct inis_error err = INIS_ERROR_INIT;
	char instance[16];
	int fd;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: making cgroups needs root\n");
		skip();
	}
	snprintf(instance, sizeof(instance), "test%d", (int)getpid());
	if (inis_cgroup_root_open(&root, instance, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(inis_cgroup_make(&root, "unit", NULL), 0);
	assert_true(inis_cgroup_exists(&root, "unit"));
	assert_int_equal(inis_cgroup_limit(&root, "unit", &limits, &err), 0);
	limits.mem_mb = 128;
	assert_int_equal(inis_cgroup_limit(&root, "unit", &limits, &err), 0);
	limits.mem_mb = 32;
	assert_int_equal(inis_cgroup_limit(&root, "unit", &limits, &err), 0);
	assert_int_equal(inis_cgroup_usage(&root, "unit", &usage, &err), 0);
	assert_int_equal(usage.pids, 0);
	fd = inis_cgroup_oom_counter(&root, "unit", &err);
	assert_true(fd >= 0);
	close(fd);
	assert_true(inis_cgroup_remove(&root, "unit"));
	assert_false(inis_cgroup_exists(&root, "unit"));
	inis_cgroup_root_close(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hybrid_machine_has_v1_controllers_beside_v2),
		cmocka_unit_test(a_v2_machine_has_one_tree),
		cmocka_unit_test(nonsense_is_no_hierarchy),
		cmocka_unit_test(a_field_is_found_by_its_whole_name_only),
		cmocka_unit_test(limits_of_a_v2_machine_go_into_the_unit_group),
		cmocka_unit_test(groups_of_this_machine_are_limited_and_removed),
	};

	return cmocka_run_group_tests_name("os_cgroup", tests, NULL, NULL);
}
