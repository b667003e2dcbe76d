/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.h - attempts to leave a session.
 *
 * An attempt answers 0 when it succeeded, else the errno it met. It must do no harm to the machine when it succeeds:
 * the walls are taken away to see that it would.
 */
#ifndef INIS_TESTS_SECURITY_PROBE_H
#define INIS_TESTS_SECURITY_PROBE_H

struct attempt {
	const char *name;
	int (*run)(void);
};

/* The system calls that are tried, one by one; ends with a name of NULL. */
extern const struct attempt CALLS[];

#endif
