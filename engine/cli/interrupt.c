/* SPDX-License-Identifier: Apache-2.0
 *
 * interrupt.c - signals as a descriptor. The signal stays pending: whoever asks later sees it too.
 */
#include "cli/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};

int cli_interrupts_open(struct inis_error *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(SIGNALS[0]); i++)
		sigaddset(&set, SIGNALS[i]);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0 || sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return inis_fail_errno(err, "cannot watch for signals");
	return fd;
}

int cli_interrupted(int fd, int timeout_ms)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	sigset_t pending;

	if (poll(&ready, 1, timeout_ms) <= 0 || sigpending(&pending) < 0)
		return 0;
	for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(SIGNALS[0]); i++)
		if (sigismember(&pending, SIGNALS[i]) == 1)
			return SIGNALS[i];
	return 0;
}
