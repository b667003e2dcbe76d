/* SPDX-License-Identifier: Apache-2.0
 *
 * stats.c - what a unit uses.
 *
 * A hard disk is a file system of its own, which knows. A soft one is counted by the sweeper, since that takes as
 * long as it has files: each answer brings the last count and starts the next.
 */
#include "driver/container/internal.h"
#include "os/path.h"

static void work_count(struct inis_job *job)
{
	struct cunit *cu = field_owner(job, struct cunit, job);

	cu->soft_bytes = layer_count(cu->dir);
}

static uint64_t soft_usage(struct cunit *cu)
{
	uint64_t bytes;

	/* The count belongs to the sweeper while it runs. */
	if (cu->job_running)
		return cu->soft_shown;
	bytes = cu->soft_bytes;
	cu->soft_shown = bytes;
	cunit_sweep(cu, work_count);
	return bytes;
}

int cunit_stats(struct inis_driver *d, struct inis_unit *u, struct inis_broker_stats *out, struct inis_error *err)
{
	struct container *c = container_of_driver(d);
	struct cunit *cu = (struct cunit *)u;
	struct inis_cgroup_usage usage;

	if (inis_cgroup_usage(&c->cgroups, u->id.s, &usage, err) < 0)
		return -1;
	*out = (struct inis_broker_stats){
		.mem_bytes = usage.mem_bytes,
		.mem_peak_bytes = usage.mem_peak_bytes,
		.cpu_us = usage.cpu_us,
		.oom_kills = usage.oom_kills,
		.pids = usage.pids,
	};
	if (cu->layer.kind == INIS_DISK_SOFT) {
		out->disk_bytes = soft_usage(cu);
		return 0;
	}
	if (cunit_open_layer(cu, err) < 0)
		return -1;
	return layer_usage(&cu->layer, &out->disk_bytes, err);
}
