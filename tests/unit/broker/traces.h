/* SPDX-License-Identifier: Apache-2.0
 *
 * traces.h - what units of one instance leave on the machine, counted from outside.
 */
#ifndef INIS_TESTS_BROKER_TRACES_H
#define INIS_TESTS_BROKER_TRACES_H

struct traces {
	unsigned cgroups; /* in all hierarchies */
	unsigned loops; /* attached loop devices */
	unsigned processes; /* in the instance's cgroups */
	unsigned files; /* below units/ */
	unsigned mounts; /* of this mount namespace */
};

struct traces traces_count(const char *state_dir, const char *instance);

/*
 * The same once so many units have disks: those in use, the pool, and the spare, which is made when nobody asks for
 * anything and of which the disk is the last part.
 */
struct traces traces_await_disks(const char *state_dir, const char *instance, unsigned disks);

#endif
