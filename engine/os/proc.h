/* SPDX-License-Identifier: Apache-2.0
 *
 * proc.h - processes: clone3, pidfds and who a pid is.
 */
#ifndef INIS_OS_PROC_H
#define INIS_OS_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define INIS_BOOT_ID_SIZE 37

/*
 * As fork() with these CLONE_* flags: 0 in the child, which shares no memory and must only use system calls until
 * it execs, unless the caller has one thread only. *pidfd (close-on-exec) is set in the parent. With cgroup >= 0 the child starts in that v2 cgroup.
 */
pid_t inis_clone3(uint64_t flags, int cgroup, int *pidfd, struct inis_error *err);

int inis_pidfd_open(pid_t pid, struct inis_error *err);
int inis_pidfd_signal(int pidfd, int signal);

/* Reaps the process if it is our child and has ended; never waits. Whether it has ended, child or not. */
bool inis_pidfd_reap(int pidfd, int *status);

/* Field 22 of /proc/PID/stat: with the pid it names a process for the life of this boot. 0 when there is none. */
uint64_t inis_start_time(pid_t pid);

/* The state letter of /proc/PID/stat, '\0' when there is none. */
char inis_proc_state(pid_t pid);

int inis_boot_id(char out[static INIS_BOOT_ID_SIZE], struct inis_error *err);

/*
 * Runs a program to its end, for start-up work only; stdout is thrown away. 0 when it exits with 0. The message
 * of *err holds the first line of its stderr.
 */
int inis_run(const char *const argv[], struct inis_error *err);

#endif
