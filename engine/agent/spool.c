/* SPDX-License-Identifier: Apache-2.0
 *
 * spool.c - where the logs of named processes are kept.
 */
#include "agent/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/cleanup.h"
#include "os/path.h"

int spool_open(struct inis_error *err)
{
	cleanup_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int run = root < 0 ? -1 : inis_make_dir_at(root, "run", 0755, err);
	cleanup_close int inis = run < 0 ? -1 : inis_make_dir_at(run, "inis", 0755, err);

	agent.spool = inis < 0 ? -1 : inis_make_dir_at(inis, "spool", 0700, err);
	return agent.spool < 0 ? -1 : 0;
}
