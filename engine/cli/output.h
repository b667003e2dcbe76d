/* SPDX-License-Identifier: Apache-2.0
 *
 * output.h - what all verbs print in the same way.
 */
#ifndef INIS_CLI_OUTPUT_H
#define INIS_CLI_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The common options: JSON on stdout, and for errors on stderr; nothing on stderr but errors. */
extern bool cli_json;
extern bool cli_quiet;

/*
 * Writes all of it to fd, for as long as that takes. -1: a signal came on interrupts, or, with errno EPIPE, the reader
 * is gone. Never blocks in a way that hides a signal.
 */
int cli_write(int fd, const void *data, size_t n, int interrupts);

/* Prints the value on one line of stdout and takes it over; as cli_write(). */
int cli_write_json_line(json_t *value, int interrupts);

/* The exit code of a program that the signal ended. */
int cli_by_signal(int signo);

/* The exit code after cli_write() or a wait has failed: by the signal on interrupts, else by SIGPIPE. */
int cli_stopped(int interrupts);

/* One line on stderr for the user; not with cli_quiet. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints the value on stdout and takes it over. NULL: no memory. */
int cli_print_json(json_t *value, struct inis_error *err);

/* The same on one line. */
int cli_print_json_line(json_t *value, struct inis_error *err);

/* {"event": …, "data": …}, with "data_encoding": "base64" for what is not UTF-8. NULL: no memory. */
json_t *cli_output_event(const char *event, const uint8_t *data, size_t n);

/* Text that came from a session or a server, for a terminal: control characters become '?'. In place. */
char *cli_plain(char *text);

/* The member as text, or what stands for none. */
const char *cli_member(const json_t *object, const char *member, const char *absent);

#endif
