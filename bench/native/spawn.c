/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.c - processes of the host: the baseline of every figure, and the peers that are programs.
 */
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "stopwatch.h"

extern char **environ;

static int start(char **argv, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	int status;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	status = posix_spawnp(pid, argv[0], &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return status;
}

int verb_spawn(int count, char **words)
{
	int64_t from = now_ns();
	int status = 0;
	pid_t pid;

	if (count < 2)
		return refuse("spawn: no program");
	status = start(words + 1, &pid);
	if (status != 0)
		return refuse("%s: %s", words[1], strerror(status));
	if (waitpid(pid, &status, 0) < 0)
		return refuse("%s: cannot be waited for", words[1]);
	printf("ok\t%lld\t%d\n", (long long)(now_ns() - from), status);
	return 0;
}

int verb_spawns(int count, char **words)
{
	long total = count > 3 ? strtol(words[1], NULL, 10) : 0;
	long at_once = count > 3 ? strtol(words[2], NULL, 10) : 0;
	long started = 0, running = 0, failed = 0;
	int64_t from = now_ns();

	if (total < 1 || at_once < 1)
		return refuse("spawns: COUNT AT_ONCE ARGV");
	while (started < total || running > 0) {
		int status;
		pid_t pid;

		if (started < total && running < at_once) {
			started++;
			if (start(words + 3, &pid) == 0)
				running++;
			else
				failed++;
			continue;
		}
		if (waitpid(-1, &status, 0) < 0)
			return refuse("spawns: cannot wait");
		running--;
		failed += status != 0;
	}
	printf("ok\t%lld\t%ld\n", (long long)(now_ns() - from), failed);
	return 0;
}
