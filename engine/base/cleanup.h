/* SPDX-License-Identifier: Apache-2.0
 *
 * cleanup.h - scope-bound ownership.
 *
 * `cleanup_close int fd = -1;` closes at the end of the scope, `cleanup_free`
 * frees. Hand a resource on with take_fd() / take_ptr(), which leave the
 * variable empty. Every descriptor starts at -1, every pointer at NULL.
 */
#ifndef INIS_BASE_CLEANUP_H
#define INIS_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void inis_cleanup_free(void *p)
{
	free(*(void **)p);
}

/* errno survives: an error path reports the cause, not the close. */
static inline void inis_cleanup_close(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void inis_cleanup_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void inis_cleanup_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define cleanup_free  __attribute__((cleanup(inis_cleanup_free)))
#define cleanup_close __attribute__((cleanup(inis_cleanup_close)))
#define cleanup_dir   __attribute__((cleanup(inis_cleanup_dir)))
#define cleanup_file  __attribute__((cleanup(inis_cleanup_file)))

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define take_ptr(p)                         \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

/* Closes *fd if open and marks it closed. */
static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(take_fd(fd));
}

#endif
