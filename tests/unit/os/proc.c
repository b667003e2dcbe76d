/* SPDX-License-Identifier: Apache-2.0
 *
 * proc.c - processes are told apart by pid and start time; a socket can be made in another's network.
 */
#include "os/proc.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "os/net.h"
#include "os/priv.h"

static void a_process_has_a_start_time_as_long_as_it_lives(void **state)
{
	cleanup_close int pidfd = -1;
	struct pollfd ended;
	int status = -1;
	pid_t pid = inis_clone3(0, -1, &pidfd, NULL);

	(void)state;
	if (pid == 0) {
		prctl(PR_SET_NAME, ") R 1 (", 0, 0, 0);
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_true(inis_start_time(pid) >= inis_start_time(getpid()));
	assert_false(inis_pidfd_reap(pidfd, &status));
	assert_int_equal(inis_pidfd_signal(pidfd, SIGTERM), 0);
	ended = (struct pollfd){.fd = pidfd, .events = POLLIN};
	assert_int_equal(poll(&ended, 1, -1), 1);
	assert_int_equal(inis_proc_state(pid), 'Z');
	assert_true(inis_pidfd_reap(pidfd, &status));
	assert_int_equal(status, 128 + SIGTERM);
	assert_true(inis_pidfd_reap(pidfd, NULL));
	assert_int_equal(inis_start_time(pid), 0);
	assert_int_equal(inis_proc_state(pid), '\0');
}

static void a_program_that_fails_says_why(void **state)
{
	const char *const good[] = {"true", NULL};
	const char *const bad[] = {"sh", "-c", "echo so it is >&2; exit 3", NULL};
	const char *const none[] = {"/nonexistent", NULL};
	struct inis_error err = INIS_ERROR_INIT;

	(void)state;
	assert_int_equal(inis_run(good, NULL), 0);
	assert_int_equal(inis_run(bad, &err), -1);
	assert_non_null(strstr(err.message, "so it is"));
	assert_int_equal(inis_run(none, &err), -1);
}

static void the_boot_has_an_id(void **state)
{
	char a[INIS_BOOT_ID_SIZE];

	(void)state;
	assert_int_equal(inis_boot_id(a, NULL), 0);
	assert_int_equal(strlen(a), 36);
}

/* The caller's own network stays what it is: the abstract name is known only over there. */
static void a_socket_made_in_another_network_namespace_belongs_there(void **state)
{
	static const char name[] = "inis-proc-test";
	cleanup_close int pidfd = -1;
	cleanup_close int sock = -1;
	cleanup_close int own = -1;
	struct inis_error err = INIS_ERROR_INIT;
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	if (!inis_has_cap(21 /* CAP_SYS_ADMIN */)) {
		print_message("skipped: network namespaces need root\n");
		skip();
	}
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = inis_clone3(CLONE_NEWNET, -1, &pidfd, NULL);
	if (pid == 0) {
		int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct sockaddr addr = {.sa_family = AF_UNIX};

		memcpy(addr.sa_data + 1, name, 13);
		if (inis_net_lo_up(NULL) < 0 || bind(server, &addr, 2 + 14) < 0 || listen(server, 1) < 0)
			_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(inis_net_connect_abstract(own, "inis-proc-tes", &err), -1);
	sock = inis_net_socket_in(pidfd, AF_UNIX, SOCK_STREAM, &err);
	assert_true(sock >= 0);
	assert_int_equal(inis_net_connect_abstract(sock, "inis-proc-tes", &err), 0);
	inis_pidfd_signal(pidfd, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_has_a_start_time_as_long_as_it_lives),
		cmocka_unit_test(a_program_that_fails_says_why),
		cmocka_unit_test(the_boot_has_an_id),
		cmocka_unit_test(a_socket_made_in_another_network_namespace_belongs_there),
	};

	return cmocka_run_group_tests_name("os_proc", tests, NULL, NULL);
}
