/* SPDX-License-Identifier: Apache-2.0
 *
 * pause.c - the clock of the agent's limits, and the file by which guests notice a resume.
 */
#include "agent/pause.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "base/cleanup.h"
#include "os/path.h"
#include "wire/agent_proto.h"

static int dir = -1;
static uint64_t generation;

static int write_generation(struct inis_error *err)
{
	char when[INIS_RFC3339_SIZE], text[64];
	int n;

	inis_rfc3339(inis_wall_ms(), when);
	n = snprintf(text, sizeof(text), "%" PRIu64 "\n%s\n", generation, when);
	return inis_put_at(dir, strrchr(INIS_GENERATION_FILE, '/') + 1, text, (size_t)n, 0644, err);
}

int pause_open(struct inis_error *err)
{
	cleanup_close int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int run = root < 0 ? -1 : inis_make_dir_at(root, "run", 0755, err);

	dir = run < 0 ? -1 : inis_make_dir_at(run, "inis", 0755, err);
	return dir < 0 ? -1 : write_generation(err);
}

void pause_begin(void)
{
	inis_events_hold(&agent.events);
}

void pause_cancel(void)
{
	inis_events_release(&agent.events);
}

void pause_end(void)
{
	pause_cancel();
	generation++;
	/* The guest may have filled its disk or removed the directory: its loss. */
	write_generation(NULL);
}
