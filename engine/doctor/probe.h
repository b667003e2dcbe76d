/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.h - doing a step of a create in a process of its own, of which nothing stays.
 */
#ifndef INIS_DOCTOR_PROBE_H
#define INIS_DOCTOR_PROBE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* 0 or -1 and *err. */
typedef int (*doctor_probe)(void *ctx, struct inis_error *err);

/* Runs fn in a child, whose standard error goes nowhere; one that takes half a minute is killed. */
int doctor_apart(doctor_probe fn, void *ctx, struct inis_error *err);

/*
 * Runs fn as the root of new namespaces (CLONE_NEW*, the user namespace among them) with a range of 65536 uids from
 * uid_base. fn must not use anything that wants threads.
 */
int doctor_in_namespaces(uint64_t flags, uint32_t uid_base, doctor_probe fn, void *ctx, struct inis_error *err);

/* A user namespace with this range, as a descriptor. */
int doctor_userns(uint32_t uid_base, struct inis_error *err);

/* For a child of doctor_apart(): mounts of its own and an empty /run, as the broker has them. */
int doctor_own_mounts(struct inis_error *err);

#endif
