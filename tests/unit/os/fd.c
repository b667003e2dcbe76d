/* SPDX-License-Identifier: Apache-2.0
 *
 * fd.c - descriptors travel in packets, and only as many as may.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "os/fd.h"

static int count_open(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void a_packet_brings_its_bytes_and_descriptors(void **state)
{
	int pair[2];
	int sent[2];
	int got[4] = {-1, -1, -1, -1};
	char text[8] = "";
	size_t n_fds;

	(void)state;
	assert_int_equal(inis_packet_pair(pair, NULL), 0);
	assert_int_equal(pipe2(sent, O_CLOEXEC), 0);
	assert_int_equal(inis_packet_send(pair[0], "hello", 5, sent, 2, NULL), 0);
	assert_int_equal(inis_packet_recv(pair[1], text, sizeof(text), got, 4, &n_fds, NULL), 5);
	assert_string_equal(text, "hello");
	assert_int_equal(n_fds, 2);
	assert_true(fcntl(got[0], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(got[1], "x", 1), 1);
	assert_int_equal(read(got[0], text, 1), 1);
	for (int i = 0; i < 2; i++) {
		close(pair[i]);
		close(sent[i]);
		close(got[i]);
	}
}

static void too_many_descriptors_or_bytes_are_refused_and_none_leaks(void **state)
{
	struct inis_error err = INIS_ERROR_INIT;
	int pair[2];
	int fds[3] = {0, 0, 0};
	int got[1] = {-1};
	char text[4];
	size_t n_fds;
	int before;

	(void)state;
	assert_int_equal(inis_packet_pair(pair, NULL), 0);
	before = count_open();
	assert_int_equal(inis_packet_send(pair[0], "x", 1, fds, 3, NULL), 0);
	assert_int_equal(inis_packet_recv(pair[1], text, sizeof(text), got, 1, &n_fds, &err), -1);
	assert_int_equal(n_fds, 0);
	assert_int_equal(inis_packet_send(pair[0], "too long", 8, fds, 1, NULL), 0);
	assert_int_equal(inis_packet_recv(pair[1], text, sizeof(text), got, 1, &n_fds, &err), -1);
	assert_int_equal(inis_packet_recv(pair[1], text, sizeof(text), got, 1, &n_fds, &err), -1);
	assert_int_equal(err.sys_errno, EAGAIN);
	assert_int_equal(count_open(), before);
	close(pair[0]);
	assert_int_equal(inis_packet_recv(pair[1], text, sizeof(text), got, 1, &n_fds, &err), 0);
	close(pair[1]);
}

static void a_sealed_memory_file_cannot_be_changed(void **state)
{
	cleanup_close int fd = inis_sealed_memfd("test", "content", 7, NULL);
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(inis_read_all(fd, &text, NULL), 0);
	assert_string_equal(inis_buf_cstr(&text), "content");
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
}

/* Sources that stand where others must go are the case that naive dup2 gets wrong. */
static void descriptors_are_placed_whatever_numbers_they_had(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct stat a, b, now;
		int fds[2] = {4, 3};

		close(3);
		close(4);
		if (open("/dev/null", O_RDONLY) != 3 || open("/dev/zero", O_RDONLY) != 4 || open("/", O_RDONLY) != 5)
			_exit(1);
		fstat(3, &a);
		fstat(4, &b);
		if (inis_fds_place(3, fds, 2, NULL) < 0)
			_exit(2);
		if (fstat(3, &now) < 0 || now.st_rdev != b.st_rdev || fstat(4, &now) < 0 || now.st_rdev != a.st_rdev)
			_exit(3);
		if (fcntl(3, F_GETFD) & FD_CLOEXEC)
			_exit(4);
		_exit(fcntl(5, F_GETFD) < 0 ? 0 : 5);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_brings_its_bytes_and_descriptors),
		cmocka_unit_test(too_many_descriptors_or_bytes_are_refused_and_none_leaks),
		cmocka_unit_test(a_sealed_memory_file_cannot_be_changed),
		cmocka_unit_test(descriptors_are_placed_whatever_numbers_they_had),
	};

	return cmocka_run_group_tests_name("os_fd", tests, NULL, NULL);
}
