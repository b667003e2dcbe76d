/* SPDX-License-Identifier: Apache-2.0
 *
 * path_test.c - nothing that a path says, or a link does meanwhile, leads out of the workspace.
 */
#include "agent/files/path.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/files/failure.h"

static char top[] = "/tmp/inis-test-path-XXXXXX";
static char root[64];

static struct inis_str str(const char *s)
{
	return (struct inis_str){s, strlen(s)};
}

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void link_to(const char *target, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/workspace/%s", top, name);
	assert_int_equal(symlink(target, path), 0);
}

static int make_tree(void **state)
{
	char path[128];

	(void)state;
	if (!mkdtemp(top))
		return -1;
	snprintf(root, sizeof(root), "%s/workspace", top);
	mkdir(root, 0755);
	snprintf(path, sizeof(path), "%s/workspace/dir", top);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/outside", top);
	mkdir(path, 0755);
	put("outside/secret", "secret");
	put("workspace/file", "file");
	put("workspace/dir/inner", "inner");
	link_to("file", "rel");
	link_to("dir/inner", "rel-deep");
	link_to("/workspace/dir/inner", "abs");
	link_to("/workspace/dir", "abs-dir");
	link_to("/workspace/abs", "abs-abs");
	link_to("../outside/secret", "up");
	link_to("../outside", "up-dir");
	link_to("/etc/passwd", "etc");
	link_to("/etc", "etc-dir");
	link_to("/proc/self/root/etc/passwd", "magic");
	link_to("loop-b", "loop-a");
	link_to("loop-a", "loop-b");
	link_to("/workspace/loop-d", "loop-c");
	link_to("/workspace/loop-c", "loop-d");
	link_to("/workspace/../etc", "dots");
	link_to("missing", "dangling");
	files_root = root;
	return 0;
}

static int remove_tree(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static void expect_content(const char *path, const char *text)
{
	struct inis_error err = INIS_ERROR_INIT;
	char buf[64];
	int fd = path_open(str(path), O_RDONLY, &err);
	ssize_t n;

	if (fd < 0)
		fail_msg("%s: %s", path, err.message);
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	assert_true(n >= 0);
	buf[n] = '\0';
	assert_string_equal(buf, text);
}

static void expect_refused(const char *path, enum inis_code code, const char *text)
{
	struct inis_error err = INIS_ERROR_INIT;
	int fd = path_open(str(path), O_RDONLY, &err);

	if (fd >= 0)
		fail_msg("%s was opened", path);
	if (err.code != code || !strstr(err.message, text))
		fail_msg("%s: %s \"%s\"", path, inis_code_name(err.code), err.message);
}

static void paths_inside_work(void **state)
{
	static const char *const file[] = {"file",        "/workspace/file",   "./file",
					   "dir/../file", "//workspace//file", "/workspace/./file",
					   "rel",         "dir/./../rel"};
	static const char *const inner[] = {"dir/inner",
					    "rel-deep",
					    "abs",
					    "abs-dir/inner",
					    "abs-abs",
					    "/workspace/abs-dir/inner",
					    "dir/../abs-dir/../dir/inner"};

	(void)state;
	for (unsigned i = 0; i < sizeof(file) / sizeof(file[0]); i++)
		expect_content(file[i], "file");
	for (unsigned i = 0; i < sizeof(inner) / sizeof(inner[0]); i++)
		expect_content(inner[i], "inner");
}

static void F7_paths_that_lead_out_are_refused(void **state)
{
	static const char *const out[] = {"/etc/passwd",
					  "../outside/secret",
					  "dir/../../outside/secret",
					  "up",
					  "up-dir/secret",
					  "etc",
					  "etc-dir/passwd",
					  "magic",
					  "dots",
					  "/",
					  "/workspaceX/file",
					  "/workspace/../outside/secret",
					  "..",
					  "abs-dir/../../outside/secret"};

	(void)state;
	for (unsigned i = 0; i < sizeof(out) / sizeof(out[0]); i++)
		expect_refused(out[i], INIS_INVALID_PATH, "path must be under /workspace");
}

static void failures_say_what_clients_look_for(void **state)
{
	char longest[5000];

	(void)state;
	expect_refused("nope", INIS_NOT_FOUND, "no such file or directory");
	expect_refused("dangling", INIS_NOT_FOUND, "no such file or directory");
	expect_refused("file/x", INIS_NOT_FOUND, "not a directory");
	expect_refused("loop-a", INIS_INVALID_PATH, "symbolic links");
	expect_refused("loop-c", INIS_INVALID_PATH, "symbolic links");
	expect_refused("", INIS_BAD_REQUEST, "path");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	expect_refused(longest, INIS_INVALID_PATH, "too long");
}

static void expect_code(int error, enum inis_code code, const char *text)
{
	struct inis_error err = INIS_ERROR_INIT;

	assert_int_equal(file_fail(&err, error, str("/workspace/x")), -1);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.message, text));
}

static void table_of_file_errors(void **state)
{
	(void)state;
	expect_code(ENOENT, INIS_NOT_FOUND, "no such file or directory");
	expect_code(ENOTDIR, INIS_NOT_FOUND, "not a directory");
	expect_code(EXDEV, INIS_INVALID_PATH, "path must be under /workspace");
	expect_code(EISDIR, INIS_IS_DIRECTORY, "is a directory");
	expect_code(EACCES, INIS_PERMISSION_DENIED, "permission denied");
	expect_code(ENOTEMPTY, INIS_BAD_REQUEST, "directory not empty");
	expect_code(ENOSPC, INIS_PAYLOAD_TOO_LARGE, "no space left on device");
	expect_code(EIO, INIS_INTERNAL, "Input/output error");
}

static void expect_place(const char *path, bool follow, const char *dir, const char *name)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct place p;
	char expected[160], link[64], actual[160];
	ssize_t n;

	if (path_place(str(path), false, follow, &p, &err) < 0)
		fail_msg("%s: %s", path, err.message);
	snprintf(expected, sizeof(expected), "%s%s", root, dir);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", p.dir);
	n = readlink(link, actual, sizeof(actual) - 1);
	assert_true(n > 0);
	actual[n] = '\0';
	assert_string_equal(actual, expected);
	assert_string_equal(p.name, name);
	place_close(&p);
}

static void places_name_what_to_act_on(void **state)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct place p;

	(void)state;
	expect_place("file", true, "", "file");
	expect_place("new", true, "", "new");
	expect_place("dir/new", true, "/dir", "new");
	expect_place("dir/", true, "", "dir");
	expect_place("dir/.", true, "", "dir");
	expect_place("abs-dir/new", true, "/dir", "new");
	/* The link itself, or what it stands for, even when that is not there yet. */
	expect_place("abs", false, "", "abs");
	expect_place("abs", true, "/dir", "inner");
	expect_place("dangling", true, "", "missing");
	expect_place("/workspace", true, "", "");
	expect_place(".", true, "", "");
	expect_place("dir/..", true, "", "");
	assert_int_equal(path_place(str("up"), true, true, &p, &err), -1);
	assert_int_equal(err.code, INIS_INVALID_PATH);
	assert_int_equal(path_place(str("etc-dir/x/y"), true, true, &p, &err), -1);
	assert_int_equal(err.code, INIS_INVALID_PATH);
	assert_int_equal(path_place(str("a/../../outside/made"), true, true, &p, &err), -1);
	assert_int_equal(err.code, INIS_INVALID_PATH);
}

static void parents_are_made_below_the_workspace_only(void **state)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct place p;

	(void)state;
	assert_int_equal(path_place(str("/workspace/a/b/c/file"), true, true, &p, &err), 0);
	place_close(&p);
	assert_int_equal(path_place(str("abs-dir/deep/er/file"), true, true, &p, &err), 0);
	place_close(&p);
	expect_place("dir/deep/er/x", true, "/dir/deep/er", "x");
	assert_int_equal(path_place(str("file/b/c"), true, true, &p, &err), -1);
	assert_string_equal(inis_code_name(err.code), "not_found");
	assert_int_equal(path_place(str("up-dir/b/c"), true, true, &p, &err), -1);
	assert_int_equal(err.code, INIS_INVALID_PATH);
}

/* For as long as it is not killed: the name is a directory, then a link that leads out, then a directory… */
__attribute__((noreturn)) static void flip(void)
{
	if (chdir(root) < 0 || mkdir("real", 0755) < 0)
		_exit(1);
	put("workspace/real/secret", "inside");
	if (symlink("../outside", "link") < 0 || rename("real", "d") < 0)
		_exit(1);
	for (;;) {
		rename("d", "real");
		rename("link", "d");
		rename("d", "link");
		rename("real", "d");
	}
}

static void F7_a_link_that_flips_never_leads_out(void **state)
{
	pid_t child = fork();
	unsigned inside = 0;

	(void)state;
	if (child == 0)
		flip();
	for (unsigned i = 0; i < 20000; i++) {
		int fd = path_open(str("/workspace/d/secret"), O_RDONLY, NULL);
		char text[16] = "";

		if (fd < 0)
			continue;
		assert_true(read(fd, text, sizeof(text) - 1) >= 0);
		close(fd);
		assert_string_equal(text, "inside");
		inside++;
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(inside > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_inside_work),
		cmocka_unit_test(F7_paths_that_lead_out_are_refused),
		cmocka_unit_test(failures_say_what_clients_look_for),
		cmocka_unit_test(table_of_file_errors),
		cmocka_unit_test(places_name_what_to_act_on),
		cmocka_unit_test(parents_are_made_below_the_workspace_only),
		cmocka_unit_test(F7_a_link_that_flips_never_leads_out),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
