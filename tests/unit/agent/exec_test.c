/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_test.c - the agent in a real unit: activation, rights, exec and its resume.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "client.h"
#include "wire/unit_proto.h"

static struct unit unit;
static struct client client;

static void expect_output(const char *script, const char *out)
{
	struct outcome o;

	client_run(&client, script, &o);
	if (strcmp(outcome_out(&o), out) != 0)
		fail_msg("%s: \"%s\" expected, got \"%s\", stderr \"%s\"", script, out, outcome_out(&o), outcome_err(&o));
	outcome_free(&o);
}

static void guest_is_what_it_should_be(void **state)
{
	(void)state;
	expect_output("id -u; id -g; id -G; pwd; hostname", "999\n999\n999 1500\n/workspace\nguest\n");
	expect_output("echo $HOME $USER $LOGNAME $SHELL $LANG $PWD ${TERM-none}",
		      "/home/sandbox sandbox sandbox /bin/bash C.UTF-8 /workspace none\n");
	expect_output("umask; ulimit -c; cat /proc/1/comm; cat /proc/self/oom_score_adj", "0022\n0\ninis-agent\n300\n");
	expect_output("ls /proc/self/fd", "0\n1\n2\n3\n");
	expect_output("grep -E 'Cap(Eff|Prm|Inh|Amb)|SigBlk|SigIgn|Seccomp:' /proc/self/status",
		      "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nCapInh:\t0000000000000000\n"
		      "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\nSeccomp:\t2\n");
	expect_output("echo hi > /dev/stdout; echo there > /dev/shm/x; cat /dev/shm/x", "hi\nthere\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(guest_is_what_it_should_be)};
	int failed;

	unit_make(&unit);
	unit_activate(&unit, 0);
	client_start(&client, &unit);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	client_close(&client);
	unit_destroy(&unit);
	return failed;
}
