/* SPDX-License-Identifier: Apache-2.0
 *
 * fd.h - descriptors: passing them, sealing bytes into one.
 *
 * Everything made here is close-on-exec.
 */
#ifndef INIS_OS_FD_H
#define INIS_OS_FD_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/* More descriptors than this never travel in one packet. */
#define INIS_PASS_MAX 32

/* A connected SOCK_SEQPACKET pair, both ends non-blocking. */
int inis_packet_pair(int pair[2], struct inis_error *err);

/* Sends one packet with n_fds descriptors, which the caller keeps. err->sys_errno is EAGAIN when it would block. */
int inis_packet_send(int sock, const void *data, size_t n, const int *fds, size_t n_fds, struct inis_error *err);

/*
 * Receives one packet of at most n bytes. Up to max descriptors are put into fds (caller owns), *n_fds says how
 * many. Returns the length, 0 when the other end is gone, -1 on failure (err->sys_errno EAGAIN: nothing there yet).
 * A packet that is longer, or brings more descriptors, is a failure; its descriptors are closed.
 */
ssize_t inis_packet_recv(int sock, void *data, size_t n, int *fds, size_t max, size_t *n_fds, struct inis_error *err);

/* The same once a packet is there, however long that takes. */
ssize_t inis_packet_await(int sock, void *data, size_t n, int *fds, size_t max, size_t *n_fds, struct inis_error *err);

/* A read-only memory file with these bytes, offset 0, or -1. */
int inis_sealed_memfd(const char *name, const void *data, size_t n, struct inis_error *err);

/* Appends all that is left in fd to out. */
int inis_read_all(int fd, struct inis_buf *out, struct inis_error *err);

/* Writes all n bytes to a blocking fd. */
int inis_write_all(int fd, const void *data, size_t n, struct inis_error *err);

/* Moves fds[i] to descriptor first + i, not close-on-exec, whatever numbers they had; closes all above 2 but these. */
int inis_fds_place(int first, const int *fds, size_t n, struct inis_error *err);

#endif
