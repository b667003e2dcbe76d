/* SPDX-License-Identifier: Apache-2.0
 *
 * state.c - the state directory: one server each, keys that nobody else can read.
 */
#include "daemon/state.h"

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

static struct inisd_config config;
static char top[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/inis-state-test.XXXXXX");
	if (!mkdtemp(top) || chmod(top, 0711) < 0)
		return -1;
	config = (struct inisd_config){.front_uid = 0x1fff0000};
	snprintf(config.state_dir, sizeof(config.state_dir), "%s/deep/down", top);
	snprintf(config.key_file, sizeof(config.key_file), "%s/key", top);
	return 0;
}

static int tear_down(void **state)
{
	cleanup_close int tmp = inis_open_dir("/tmp", NULL);

	(void)state;
	return inis_remove_tree_at(tmp, strrchr(top, '/') + 1, NULL);
}

static void need_root(void)
{
	if (geteuid() != 0) {
		print_message("skipped: a state directory needs root\n");
		skip();
	}
}

static void a_directory_is_made_and_belongs_to_one_server(void **state)
{
	struct state one;
	struct state two;
	struct inis_error err = INIS_ERROR_INIT;
	char instance[INIS_INSTANCE_MAX + 1];
	struct stat st;

	(void)state;
	need_root();
	assert_int_equal(state_open(&one, &config, NULL), 0);
	assert_int_equal(fstat(one.dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0711);
	assert_int_equal(stat(one.store_dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(st.st_uid, config.front_uid);
	assert_int_equal(state_open(&two, &config, &err), -1);
	assert_int_equal(err.code, INIS_CONFLICT);
	strcpy(instance, one.instance);
	state_close(&one);
	assert_int_equal(state_open(&two, &config, NULL), 0);
	assert_string_equal(two.instance, instance);
	state_close(&two);
}

static void a_directory_above_that_shuts_the_front_out_is_named(void **state)
{
	struct state s;
	struct inis_error err = INIS_ERROR_INIT;

	(void)state;
	need_root();
	assert_int_equal(chmod(top, 0700), 0);
	assert_int_equal(state_open(&s, &config, &err), -1);
	assert_int_equal(err.code, INIS_FORBIDDEN);
	assert_non_null(strstr(err.message, top));
	assert_null(strstr(err.message, "/deep"));
	assert_int_equal(chmod(top, 0711), 0);
	assert_int_equal(state_open(&s, &config, NULL), 0);
	state_close(&s);
}

static void engine_json_says_how_to_reach_the_server(void **state)
{
	struct state s;
	struct stat st;
	char text[1024];

	(void)state;
	need_root();
	assert_int_equal(state_open(&s, &config, NULL), 0);
	assert_int_equal(state_write_engine(&s, "http://127.0.0.1:1", "/k", NULL), 0);
	assert_int_equal(fstatat(s.dir, "engine.json", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(inis_read_at(s.dir, "engine.json", text, sizeof(text), NULL) > 0);
	assert_non_null(strstr(text, "\"base_url\":\"http://127.0.0.1:1\""));
	assert_non_null(strstr(text, "\"start_time\":"));
	state_remove_engine(&s);
	assert_int_equal(faccessat(s.dir, "engine.json", F_OK, 0), -1);
	state_close(&s);
}

static void write_key_file(const char *text, mode_t mode)
{
	int fd = open(config.key_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void a_missing_key_file_is_made_with_one_key(void **state)
{
	cleanup_buf struct inis_buf one = INIS_BUF_INIT(0);
	cleanup_buf struct inis_buf two = INIS_BUF_INIT(0);
	struct stat st;

	(void)state;
	assert_int_equal(state_read_keys(config.key_file, &one, NULL), 0);
	assert_int_equal(stat(config.key_file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, 3 + 43 + 1);
	assert_int_equal(state_read_keys(config.key_file, &two, NULL), 0);
	assert_string_equal(inis_buf_cstr(&one), inis_buf_cstr(&two));
	assert_int_equal(memcmp(one.data, "[\"sk_", 5), 0);
	assert_int_equal(one.len, 3 + 43 + 4);
}

static void keys_are_read_a_line_each(void **state)
{
	cleanup_buf struct inis_buf keys = INIS_BUF_INIT(0);

	(void)state;
	write_key_file("# people\nsk_aaaaaaaaaaaaaaaaaaaa\r\n\nsk_bbbbbbbbbbbbbbbbbbbb  \n", 0600);
	assert_int_equal(state_read_keys(config.key_file, &keys, NULL), 0);
	assert_string_equal(inis_buf_cstr(&keys), "[\"sk_aaaaaaaaaaaaaaaaaaaa\",\"sk_bbbbbbbbbbbbbbbbbbbb\"]");
}

static void refuse(const char *text, mode_t mode, const char *why)
{
	cleanup_buf struct inis_buf keys = INIS_BUF_INIT(0);
	struct inis_error err = INIS_ERROR_INIT;

	write_key_file(text, mode);
	assert_int_equal(state_read_keys(config.key_file, &keys, &err), -1);
	if (!strstr(err.message, why))
		fail_msg("\"%s\" does not say: %s", err.message, why);
	assert_null(strstr(err.message, "secret"));
}

static void L15_key_files_that_are_open_or_senseless_are_refused_without_showing_a_key(void **state)
{
	(void)state;
	refuse("sk_secretsecretsecretsecret\n", 0644, "chmod 600");
	refuse("sk_secretsecretsecretsecret\nsecret\n", 0600, "key number 2");
	refuse("secret with spaces in it\n", 0600, "key number 1");
	refuse("# nothing\n", 0600, "holds no key");
	refuse("", 0600, "holds no key");
}

#define placed(test_) cmocka_unit_test_setup_teardown(test_, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		placed(a_directory_is_made_and_belongs_to_one_server),
		placed(a_directory_above_that_shuts_the_front_out_is_named),
		placed(engine_json_says_how_to_reach_the_server),
		placed(a_missing_key_file_is_made_with_one_key),
		placed(keys_are_read_a_line_each),
		placed(L15_key_files_that_are_open_or_senseless_are_refused_without_showing_a_key),
	};

	return cmocka_run_group_tests_name("daemon_state", tests, NULL, NULL);
}
