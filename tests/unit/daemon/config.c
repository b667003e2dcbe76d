/* SPDX-License-Identifier: Apache-2.0
 *
 * config.c - what an operator says is taken as said, and every mistake is named.
 */
#include "daemon/config.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(list_) (int)(sizeof(list_) / sizeof((list_)[0]))

static struct inisd_config config;
static char complaints[4096];
static bool help;

static int read_words(int n, char *const *words)
{
	FILE *to = fmemopen(complaints, sizeof(complaints), "w");
	int rc;

	memset(complaints, 0, sizeof(complaints));
	rc = inisd_config_read(&config, n, words, &help, to);
	fclose(to);
	return rc;
}

#define read_all(...)                                                     \
	({                                                                \
		const char *const words_[] = {__VA_ARGS__};               \
		read_words(COUNT(words_), (char *const *)(void *)words_); \
	})

static char *file_with(const char *text)
{
	static char path[40];
	int fd;

	strcpy(path, "/tmp/inis-config-test.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

static void complains_of(const char *text)
{
	if (!strstr(complaints, text))
		fail_msg("\"%s\" does not say: %s", complaints, text);
}

static void defaults_serve_loopback(void **state)
{
	(void)state;
	assert_int_equal(read_words(0, NULL), 0);
	assert_string_equal(config.listen, "127.0.0.1:7070");
	assert_string_equal(config.state_dir, "/var/lib/inis");
	assert_string_equal(config.key_file, "/var/lib/inis/key");
	assert_int_equal(((struct sockaddr_in *)&config.address)->sin_port, htons(7070));
	assert_false(config.embedded);
}

static void flags_are_taken_in_both_spellings(void **state)
{
	(void)state;
	assert_int_equal(read_all("--listen", "[::1]:0", "--state-dir=/tmp/x", "--embedded", "--exit-when-idle", "30"),
			 0);
	assert_int_equal(config.address.ss_family, AF_INET6);
	assert_string_equal(config.state_dir, "/tmp/x");
	assert_string_equal(config.key_file, "/tmp/x/key");
	assert_true(config.embedded);
	assert_int_equal(config.exit_when_idle_s, 30);
}

static void a_flag_wins_over_the_file(void **state)
{
	char *path = file_with("{\"listen\": \"127.0.0.1:1\", \"pool\": 9, \"embedded\": true}");

	(void)state;
	assert_int_equal(read_all("--listen", "127.0.0.1:2", "--config", path), 0);
	assert_string_equal(config.listen, "127.0.0.1:2");
	assert_int_equal(config.pool, 9);
	assert_true(config.embedded);
	unlink(path);
}

static void every_wrong_value_of_a_file_is_named(void **state)
{
	char *path =
		file_with("{\"pool\": \"many\", \"disk_mb\": 1, \"listen\": 7, \"embedded\": 1, \"colour\": \"red\","
			  "\"log_level\": \"loud\", \"uid_base\": 65537, \"state_dir\": \"here\"}");

	(void)state;
	assert_int_equal(read_all("--config", path), -1);
	complains_of("`pool`: must be an integer between 0 and 256");
	complains_of("`disk_mb`: must be an integer between 16 and 16777216");
	complains_of("`listen`: must be a string");
	complains_of("`embedded`: must be true or false");
	complains_of("`colour`: no such setting");
	complains_of("log_level: must be debug, info, warn or error");
	complains_of("uid_base: must be a multiple of 65536");
	complains_of("state_dir: \"here\" must be an absolute path");
	unlink(path);
}

static void limits_are_taken_and_their_mistakes_named(void **state)
{
	char *path = file_with("{\"rate_limit\": 20, \"rate_burst\": 50, \"sessions_per_key_max\": 3,"
			       "\"session_requests_max\": 0, \"connections_max\": 16, \"metrics_local\": true}");

	(void)state;
	assert_int_equal(read_words(0, NULL), 0);
	assert_int_equal(config.session_requests_max, 512);
	assert_int_equal(config.connections_max, 4096);
	assert_int_equal(config.rate_limit + config.rate_burst + config.sessions_per_key_max, 0);
	assert_false(config.metrics_local);
	assert_int_equal(read_all("--config", path), 0);
	assert_int_equal(config.rate_limit, 20);
	assert_int_equal(config.rate_burst, 50);
	assert_int_equal(config.sessions_per_key_max, 3);
	assert_int_equal(config.session_requests_max, 0);
	assert_int_equal(config.connections_max, 16);
	assert_true(config.metrics_local);
	unlink(path);
	path = file_with("{\"rate_limit\": -1, \"rate_burst\": 5, \"sessions_per_key_max\": \"3\","
			 "\"session_requests_max\": 1.5, \"connections_max\": 15, \"metrics_local\": \"yes\"}");
	assert_int_equal(read_all("--config", path), -1);
	complains_of("`rate_limit`: must be an integer between 0 and 1000000");
	complains_of("rate_burst: means nothing without rate_limit");
	complains_of("`sessions_per_key_max`: must be an integer");
	complains_of("`session_requests_max`: must be an integer");
	complains_of("`connections_max`: must be an integer between 16 and 1000000");
	complains_of("`metrics_local`: must be true or false");
	unlink(path);
}

static void a_file_that_is_no_object_is_refused(void **state)
{
	static const char *const bad[] = {"[]", "{", "", "{\"pool\": 1, \"pool\": 2}", "\xff"};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *path = file_with(bad[i]);

		assert_int_equal(read_all("--config", path), -1);
		complains_of(path);
		unlink(path);
	}
	assert_int_equal(read_all("--config", "/nonexistent/config"), -1);
	complains_of("/nonexistent/config");
}

static void wrong_flags_are_named(void **state)
{
	(void)state;
	assert_int_equal(read_all("--colour", "--listen", "nowhere", "extra"), -1);
	complains_of("--colour: no such option");
	complains_of("extra: no such option");
	assert_int_equal(read_all("--exit-when-idle", "soon"), -1);
	complains_of("--exit-when-idle: must be an integer");
	assert_int_equal(read_all("--embedded=yes"), -1);
	complains_of("--embedded: takes no value");
	assert_int_equal(read_all("--listen"), -1);
	complains_of("--listen: needs a value");
	assert_int_equal(read_all("--pool", "3"), -1);
	complains_of("--pool: no such option");
}

static void help_is_given_before_anything_is_complained_of(void **state)
{
	(void)state;
	assert_int_equal(read_all("--nonsense", "--help"), 0);
	assert_true(help);
}

static void addresses_are_told_from_nonsense(void **state)
{
	static const char *const good[] = {"127.0.0.1:0", "0.0.0.0:65535", "[::]:80", "localhost:7070"};
	static const char *const bad[] = {"",
					  ":80",
					  "127.0.0.1",
					  "127.0.0.1:",
					  "127.0.0.1:65536",
					  "::1:80",
					  "127.0.0.1:-1",
					  "example.org:80",
					  "1.2.3:80",
					  "[::1]80",
					  "127.0.0.1:8x",
					  "[]:1"};
	struct sockaddr_storage a;
	socklen_t n;

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(inisd_parse_listen(good[i], &a, &n));
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (inisd_parse_listen(bad[i], &a, &n))
			fail_msg("\"%s\" was taken for an address", bad[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_serve_loopback),
		cmocka_unit_test(flags_are_taken_in_both_spellings),
		cmocka_unit_test(a_flag_wins_over_the_file),
		cmocka_unit_test(every_wrong_value_of_a_file_is_named),
		cmocka_unit_test(limits_are_taken_and_their_mistakes_named),
		cmocka_unit_test(a_file_that_is_no_object_is_refused),
		cmocka_unit_test(wrong_flags_are_named),
		cmocka_unit_test(help_is_given_before_anything_is_complained_of),
		cmocka_unit_test(addresses_are_told_from_nonsense),
	};

	return cmocka_run_group_tests_name("daemon_config", tests, NULL, NULL);
}
