/* SPDX-License-Identifier: Apache-2.0
 *
 * guest_test.c - the agent in a real unit: what a guest is and may, and what it cannot do to the agent.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "client.h"

static void idle_agent_is_small(void **state)
{
	char path[64], line[128];
	unsigned pss = 0;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", unit.pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "Pss: %u kB", &pss);
	fclose(f);
#ifdef __SANITIZE_ADDRESS__
	print_message("skipped: the sanitizer's own memory is no measure\n");
	skip();
#endif
	print_message("Pss of the agent: %u kB\n", pss);
	assert_true(pss > 0 && pss < 2048);
}

static void guest_is_what_it_should_be(void **state)
{
	(void)state;
	client_expect_output("id -u; id -g; id -G; pwd; hostname", "999\n999\n999 1500\n/workspace\nguest\n");
	client_expect_output("echo $HOME $USER $LOGNAME $SHELL $LANG $PWD ${TERM-none}",
			     "/home/sandbox sandbox sandbox /bin/bash C.UTF-8 /workspace none\n");
	client_expect_output("umask; ulimit -c; cat /proc/1/comm; sleep 0.5; cat /proc/self/oom_score_adj",
			     "0022\n0\ninis-agent\n300\n");
	client_expect_output("ls /proc/self/fd", "0\n1\n2\n3\n");
	client_expect_output(
		"grep -E 'Cap(Eff|Prm|Inh|Amb)|SigBlk|SigIgn|Seccomp:' /proc/self/status",
		"SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nCapInh:\t0000000000000000\n"
		"CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\nSeccomp:\t2\n");
	client_expect_output("echo hi > /dev/stdout; echo there > /dev/shm/x; cat /dev/shm/x", "hi\nthere\n");
}

static void P11_orphans_are_reaped(void **state)
{
	(void)state;
	client_succeed("i=0; while [ $i -lt 300 ]; do (sh -c 'true &' &); i=$((i+1)); done; wait");
	usleep(300000);
	client_expect_output("grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l", "0\n");
}

static void named_namespaces_and_mounts_are_out_of_reach(void **state)
{
	(void)state;
	client_expect_output(
		"unshare -U true 2>/dev/null && echo yes; mount -t tmpfs x /tmp 2>/dev/null && echo yes; echo no",
		"no\n");
	client_expect_output(
		"for f in kcore kallsyms keys timer_list; do test -e /proc/$f && head -c 1 /proc/$f | wc -c; done "
		"2>/dev/null | sort -u",
		"0\n");
	client_expect_output(
		"(echo 1 > /proc/sys/net/ipv4/ip_forward) 2>/dev/null; (echo b > /proc/sysrq-trigger) 2>/dev/null; "
		"echo $?",
		NULL);
	client_expect_output("cat /proc/1/environ 2>/dev/null; readlink /proc/1/exe; kill -9 1 2>/dev/null; echo alive",
			     "alive\n");
	client_expect_output(
		"python3 -c \"import socket\nfor f in (40, 38, 17, 44):\n try:\n  socket.socket(f, 1)\n  print('open', f)\n"
		" except OSError: pass\nsocket.socket(socket.AF_INET6)\nprint('ok')\"",
		"ok\n");
	client_expect_output(
		"python3 -c \"import ctypes\nl = ctypes.CDLL(None, use_errno=True)\n"
		"for nr in (425, 435, 323, 321, 298, 250, 272, 165, 308):\n"
		" print(nr, l.syscall(nr, 0, 0, 0, 0, 0), ctypes.get_errno())\"",
		"425 -1 38\n435 -1 38\n323 -1 1\n321 -1 1\n298 -1 1\n250 -1 1\n272 -1 1\n165 -1 1\n308 -1 1\n");
}

static void sudo_works_without_dangerous_capabilities(void **state)
{
	(void)state;
	client_expect_output("printf 'sandbox ALL=(ALL) NOPASSWD:ALL\\n' > /tmp/sudoers; id -u", "999\n");
	client_expect_output("grep CapBnd /proc/self/status", "CapBnd:\t00000000a00405fb\n");
}

static void insiders_cannot_talk_to_the_agent(void **state)
{
	(void)state;
	client_expect_output(
		"python3 -c \"import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0inis-agent')\n"
		"s.settimeout(20)\nprint(s.recv(1))\"",
		"b''\n");
	/* A flood of them does not keep the client out. */
	client_succeed("python3 -c \"import socket\nfor i in range(3000):\n s = socket.socket(socket.AF_UNIX)\n"
		       " s.connect('\\0inis-agent')\n\"");
}

static void malformed_frames_end_the_connection_and_nothing_else(void **state)
{
	static const char *const bad[] = {
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		"\x07\0\0\0\0\0\0\0\x01\0\0\0\x04\0\0\0abcd",
		"\x07\0\0\0\x01\0\0\0\x20\0\0\0\x00\0\0\0",
	};
	static const size_t sizes[] = {16, 20, 16};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		int sock = unit_connect(&unit);
		char byte;
		struct timeval limit = {.tv_sec = 20};
		int flags = fcntl(sock, F_GETFL);

		fcntl(sock, F_SETFL, flags & ~O_NONBLOCK);
		setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		assert_int_equal(send(sock, bad[i], sizes[i], MSG_NOSIGNAL), sizes[i]);
		assert_int_equal(recv(sock, &byte, 1, 0), 0);
		close(sock);
	}
	client_expect_output("echo fine", "fine\n");
}

static void malformed_messages_end_in_an_error_on_their_channel(void **state)
{
	static const enum inis_frame_type types[] = {
		INIS_F_EXEC,       INIS_F_PROC_START,  INIS_F_PROC_GET,    INIS_F_PROC_LIST,  INIS_F_PROC_KILL,
		INIS_F_PROC_STDIN, INIS_F_PROC_LOGS,   INIS_F_FILE_READ,   INIS_F_FILE_WRITE, INIS_F_FILE_LIST,
		INIS_F_FILE_MKDIR, INIS_F_FILE_REMOVE, INIS_F_FILE_RENAME, INIS_F_FILE_STAT};

	(void)state;
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		uint32_t channel = client_channel(&client);

		client_send(&client, channel, types[i], 0, "\xff\xff\xff", 3);
		client_expect_error(&client, channel, INIS_BAD_REQUEST, "malformed");
	}
	for (enum inis_frame_type type = 60; type < 120; type++)
		client_send(&client, client_channel(&client), INIS_F_RELEASE, 0, NULL, 0);
	client_expect_output("echo fine", "fine\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_agent_is_small),
		cmocka_unit_test(guest_is_what_it_should_be),
		cmocka_unit_test(P11_orphans_are_reaped),
		cmocka_unit_test(named_namespaces_and_mounts_are_out_of_reach),
		cmocka_unit_test(sudo_works_without_dangerous_capabilities),
		cmocka_unit_test(insiders_cannot_talk_to_the_agent),
		cmocka_unit_test(malformed_frames_end_the_connection_and_nothing_else),
		cmocka_unit_test(malformed_messages_end_in_an_error_on_their_channel),
	};

	return run_with_client(tests, 0);
}
