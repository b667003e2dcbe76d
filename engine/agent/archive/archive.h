/* SPDX-License-Identifier: Apache-2.0
 *
 * archive.h - file trees in and out of a session: a program of the guest.
 *
 * As with find and grep it is the agent's own program, run as the guest user by whoever executes ARCHIVE_PROGRAM; no
 * file of that name exists. What it does and says is in api/openapi.yaml, at the operation that runs commands.
 */
#ifndef INIS_AGENT_ARCHIVE_ARCHIVE_H
#define INIS_AGENT_ARCHIVE_ARCHIVE_H

#define ARCHIVE_PROGRAM "/run/inis/archive"

int archive_main(int argc, char **argv);

#endif
