/* SPDX-License-Identifier: Apache-2.0
 *
 * net.h - network namespaces.
 */
#ifndef INIS_OS_NET_H
#define INIS_OS_NET_H

#include "base/error.h"

/* Brings the loopback device of the current network namespace up. */
int inis_net_lo_up(struct inis_error *err);

/*
 * A socket made inside the network namespace of another process, close-on-exec and non-blocking. The caller never
 * enters that namespace: a child that shares its descriptors does.
 */
int inis_net_socket_in(int pidfd, int domain, int type, struct inis_error *err);

/* Connects a non-blocking stream socket to an abstract unix name in the namespace the socket belongs to. */
int inis_net_connect_abstract(int sock, const char *name, struct inis_error *err);

#endif
