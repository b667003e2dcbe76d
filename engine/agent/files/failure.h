/* SPDX-License-Identifier: Apache-2.0
 *
 * failure.h - what a failed system call on a file means to the client.
 */
#ifndef INIS_AGENT_FILES_FAILURE_H
#define INIS_AGENT_FILES_FAILURE_H

#include "base/error.h"
#include "base/pack.h"

/* Code and text of the errno, naming the path; returns -1. */
int file_fail(struct inis_error *err, int error, struct inis_str path);

#endif
