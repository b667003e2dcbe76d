/* SPDX-License-Identifier: Apache-2.0
 *
 * output.c - what all verbs print in the same way.
 */
#include "cli/output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "cli/interrupt.h"

bool cli_json;
bool cli_quiet;

int cli_by_signal(int signo)
{
	return 128 + signo;
}

int cli_stopped(int interrupts)
{
	int signo = cli_interrupted(interrupts, 0);

	return cli_by_signal(signo ? signo : SIGPIPE);
}

/* In pieces that a ready pipe takes without blocking. */
int cli_write(int fd, const void *data, size_t n, int interrupts)
{
	struct pollfd ready[] = {{.fd = fd, .events = POLLOUT}, {.fd = interrupts, .events = POLLIN}};
	const char *at = data;
	ssize_t written;

	while (n > 0) {
		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return -1;
		if (ready[1].revents)
			return -1;
		written = write(fd, at, n < PIPE_BUF ? n : PIPE_BUF);
		if (written < 0 && errno != EAGAIN && errno != EINTR) {
			errno = EPIPE;
			return -1;
		}
		if (written > 0) {
			at += written;
			n -= (size_t)written;
		}
	}
	return 0;
}

int cli_write_json_line(json_t *value, int interrupts)
{
	char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
	size_t n = text ? strlen(text) : 0;
	int rc = -1;

	json_decref(value);
	if (text) {
		text[n] = '\n';
		rc = cli_write(1, text, n + 1, interrupts);
	}
	free(text);
	return rc;
}

void cli_say(const char *fmt, ...)
{
	va_list ap;

	if (cli_quiet)
		return;
	fputs("inis: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static int print(json_t *value, size_t flags, struct inis_error *err)
{
	int rc = value ? json_dumpf(value, stdout, flags) : -1;

	json_decref(value);
	if (rc < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	putchar('\n');
	return fflush(stdout) == 0 ? 0 : inis_fail_errno(err, "cannot write to stdout");
}

int cli_print_json(json_t *value, struct inis_error *err)
{
	return print(value, JSON_INDENT(2), err);
}

int cli_print_json_line(json_t *value, struct inis_error *err)
{
	return print(value, JSON_COMPACT, err);
}

json_t *cli_output_event(const char *event, const uint8_t *data, size_t n)
{
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);
	json_t *plain = json_stringn((const char *)data, n);

	if (plain)
		return json_pack("{s:s, s:o}", "event", event, "data", plain);
	inis_base64_encode(&text, data, n);
	return json_pack("{s:s, s:s%, s:s}", "event", event, "data", (const char *)text.data, text.len, "data_encoding",
			 "base64");
}

char *cli_plain(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			*c = '?';
	return text;
}

const char *cli_member(const json_t *object, const char *member, const char *absent)
{
	const char *value = json_string_value(json_object_get(object, member));

	return value ? value : absent;
}
