/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - inis-agent: the zygote, and PID 1 of a unit.
 *
 * Waits as a blank unit until it is activated, then serves its client for as long as the unit lives. It never ends
 * by itself after that: the unit would end with it. It is also the program, run by itself as the guest user, that
 * searches the guest's files and carries trees of them.
 */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/activate.h"
#include "agent/agent.h"
#include "agent/archive/archive.h"
#include "agent/reap.h"
#include "agent/rights.h"
#include "agent/search/search.h"
#include "agent/zygote.h"
#include "wire/unit_proto.h"

/* More than a window of a stream; what is free beyond that goes back. */
#define KEEP_FREE (384 * 1024)

/*
 * An idle session should cost little, and a stream should not pay for fresh pages at each of its pieces, which costs
 * more than what is done with them.
 */
static void tune_memory(void)
{
	mallopt(M_TRIM_THRESHOLD, KEEP_FREE);
	mallopt(M_TOP_PAD, 16 * 1024);
	mallopt(M_MMAP_THRESHOLD, KEEP_FREE);
}

int main(int argc, char **argv)
{
	struct inis_error err = INIS_ERROR_INIT;

	/* As PID 1 it has no arguments. */
	if (argc > 0 && strcmp(argv[0], ARCHIVE_PROGRAM) == 0)
		return archive_main(argc, argv);
	if (argc > 1)
		return search_main(argc, argv);
	tune_memory();
	if (argc > 0 && strcmp(argv[0], INIS_ZYGOTE_NAME) == 0)
		zygote_serve(argv[0]);
	rights_begin();
	if (inis_events_init(&agent.events, &err) < 0 || reap_start(&err) < 0) {
		dprintf(STDERR_FILENO, "inis-agent: %s\n", err.message);
		return 1;
	}
	activate();
	agent_loop();
}
