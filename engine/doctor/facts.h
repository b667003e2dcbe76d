/* SPDX-License-Identifier: Apache-2.0
 *
 * facts.h - what a machine says about itself: knobs that decide what a process may do.
 *
 * Read only to explain a step that failed. Whether a step works is found out by doing it (probe.h), never from here.
 */
#ifndef INIS_DOCTOR_FACTS_H
#define INIS_DOCTOR_FACTS_H

#include <stdbool.h>
#include <stdint.h>

enum doctor_namespace {
	DOCTOR_NS_USER,
	DOCTOR_NS_MNT,
	DOCTOR_NS_PID,
	DOCTOR_NS_NET,
	DOCTOR_NS_IPC,
	DOCTOR_NS_UTS,
	DOCTOR_NS_CGROUP,
	DOCTOR_NS_TIME,
	DOCTOR_NS_COUNT
};

/* As the kernel spells it in user.max_<name>_namespaces. */
const char *doctor_namespace_name(enum doctor_namespace ns);

/* Numbers are -1 and texts "" where the machine says nothing. */
struct doctor_facts {
	bool container; /* a container runtime left its mark in / */
	int seccomp; /* of this process: 0 none, 2 a filter */
	bool caps_known;
	uint64_t caps; /* effective */
	char apparmor[96]; /* profile of this process, "" when unconfined */
	bool selinux; /* enforcing */
	bool userns_initial; /* not inside a user namespace */
	long ns_max[DOCTOR_NS_COUNT]; /* user.max_*_namespaces */
	long unprivileged_userns_clone; /* Debian */
	long apparmor_restrict_userns; /* Ubuntu */
	unsigned proc_covered; /* mounts on top of /proc */
	char proc_example[64]; /* one of them */
	bool proc_read_only;
	bool cgroup2; /* mounted */
	bool cgroup2_read_only;
	char cgroup2_at[64]; /* where */
	bool filesystems_known;
	bool ext4; /* in /proc/filesystems */
	bool overlay;
	bool loop_control; /* /dev/loop-control is there */
};

/* `root` is a descriptor of /, or of a directory that stands for it. What cannot be read stays unknown. */
void doctor_facts_read(struct doctor_facts *f, int root);

#endif
