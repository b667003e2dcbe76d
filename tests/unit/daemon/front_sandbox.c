/* SPDX-License-Identifier: Apache-2.0
 *
 * front_sandbox.c - what the front cannot do any more, each tried for real in a child under the filter.
 */
#include "daemon/front_sandbox.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs fn under the filter; gives what it returns. */
static int filtered(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (inis_front_sandbox(NULL) < 0)
			_exit(99);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define refused(call_) ((call_) < 0 && errno == EPERM)

static int start_things(void)
{
	char *const argv[] = {(char *)"true", NULL};

	if (!refused(execv("/bin/true", argv)))
		return 1;
	if (!refused(syscall(SYS_fork)) || !refused(syscall(SYS_vfork)))
		return 2;
	if (fork() >= 0)
		return 3;
	return 0;
}

static int reach_out(void)
{
	if (!refused(mount("none", "/tmp", "tmpfs", 0, NULL)) || !refused(umount2("/", MNT_DETACH)))
		return 1;
	if (!refused(unshare(CLONE_NEWUSER)) || !refused(setns(0, 0)) || !refused(chroot("/")))
		return 2;
	if (!refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL)) || !refused(syscall(SYS_bpf, 0, NULL, 0)) ||
	    !refused(syscall(SYS_keyctl, 0, 0, 0, 0, 0)))
		return 3;
	return 0;
}

static int open_sockets(void)
{
	static const int no[] = {AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK, AF_IPX, AF_APPLETALK};

	for (unsigned i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		if (socket(no[i], SOCK_DGRAM, 0) >= 0 || errno != EAFNOSUPPORT)
			return (int)i + 1;
	}
	return socket(AF_INET, SOCK_STREAM, 0) < 0 || socket(AF_UNIX, SOCK_SEQPACKET, 0) < 0 ||
	       (socket(AF_INET6, SOCK_STREAM, 0) < 0 && errno != EAFNOSUPPORT);
}

static void *answer(void *arg)
{
	*(int *)arg = 42;
	return NULL;
}

static int start_thread(void)
{
	pthread_t thread;
	int value = 0;

	if (pthread_create(&thread, NULL, answer, &value) != 0 || pthread_join(thread, NULL) != 0)
		return 1;
	return value == 42 ? 0 : 2;
}

static void no_program_and_no_process_can_be_started(void **state)
{
	(void)state;
	assert_int_equal(filtered(start_things), 0);
}

static void no_mount_namespace_or_other_process_can_be_reached(void **state)
{
	(void)state;
	assert_int_equal(filtered(reach_out), 0);
}

static void only_unix_and_internet_sockets_can_be_made(void **state)
{
	(void)state;
	assert_int_equal(filtered(open_sockets), 0);
}

static void threads_still_start(void **state)
{
	(void)state;
	assert_int_equal(filtered(start_thread), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_program_and_no_process_can_be_started),
		cmocka_unit_test(no_mount_namespace_or_other_process_can_be_reached),
		cmocka_unit_test(only_unix_and_internet_sockets_can_be_made),
		cmocka_unit_test(threads_still_start),
	};

	return cmocka_run_group_tests_name("daemon_front_sandbox", tests, NULL, NULL);
}
