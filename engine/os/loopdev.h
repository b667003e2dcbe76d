/* SPDX-License-Identifier: Apache-2.0
 *
 * loopdev.h - loop devices.
 */
#ifndef INIS_OS_LOOPDEV_H
#define INIS_OS_LOOPDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define INIS_LOOP_PATH_SIZE 32

/*
 * Attaches an image to a free loop device that clears itself when its last user goes. path gets its name, *number
 * its number. Returns the device's descriptor: keep it until the device is mounted.
 */
int inis_loop_attach(int image, const char *label, char path[static INIS_LOOP_PATH_SIZE], int *number,
		     struct inis_error *err);

/* From now on past the page cache, where the file system of the image can do that: what is written is cached once. */
void inis_loop_direct(int number);

/* Whether loop device `number` is attached under this label. */
bool inis_loop_attached(int number, const char *label);

/* Its descriptor when it is, or -1: as long as that is open the device does not clear itself. */
int inis_loop_hold(int number, const char *label);

/* Detaches every loop device whose label starts with prefix (of someone who died before mounting it). */
void inis_loop_detach_stray(const char *prefix, bool (*keep)(void *ctx, const char *label), void *ctx);

#endif
