/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - from the first message of a channel to its handler.
 */
#include "agent/request.h"

#include "agent/exec.h"
#include "agent/files/files.h"
#include "agent/link.h"
#include "agent/process.h"
#include "agent/pty.h"

typedef int (*handler)(uint32_t channel, const void *data, size_t n, struct inis_error *err);

static int not_built(uint32_t channel, const void *data, size_t n, struct inis_error *err)
{
	(void)channel;
	(void)data;
	(void)n;
	return inis_fail(err, INIS_NOT_IMPLEMENTED, "this agent cannot do that yet");
}

static const struct route {
	uint16_t type;
	handler handle;
} ROUTES[] = {
	{INIS_F_EXEC, exec_request},
	{INIS_F_PROC_START, process_start_request},
	{INIS_F_PROC_GET, process_get_request},
	{INIS_F_PROC_LIST, process_list_request},
	{INIS_F_PROC_KILL, process_kill_request},
	{INIS_F_PROC_STDIN, process_stdin_request},
	{INIS_F_PROC_LOGS, process_logs_request},
	{INIS_F_FILE_READ, file_read_request},
	{INIS_F_FILE_WRITE, file_write_request},
	{INIS_F_FILE_LIST, file_list_request},
	{INIS_F_FILE_MKDIR, file_mkdir_request},
	{INIS_F_FILE_REMOVE, file_remove_request},
	{INIS_F_FILE_RENAME, file_rename_request},
	{INIS_F_FILE_STAT, file_stat_request},
	{INIS_F_FILE_FIND, file_find_request},
	{INIS_F_FILE_GREP, file_grep_request},
	{INIS_F_PTY_START, pty_request},
	{INIS_F_PTY_ATTACH, pty_attach_request},
	{INIS_F_PTY_LIST, pty_list_request},
	{INIS_F_PTY_KILL, pty_kill_request},
	{INIS_F_IDENTITY, not_built},
};

static const struct route *find(uint16_t type)
{
	for (unsigned i = 0; i < sizeof(ROUTES) / sizeof(ROUTES[0]); i++) {
		if (ROUTES[i].type == type)
			return &ROUTES[i];
	}
	return NULL;
}

bool request_known(uint16_t type)
{
	return find(type) != NULL;
}

int request_malformed(struct inis_error *err)
{
	return inis_fail(err, INIS_BAD_REQUEST, "malformed message");
}

void request_handle(uint32_t channel, uint16_t type, const void *data, size_t n)
{
	struct inis_error err = INIS_ERROR_INIT;

	if (find(type)->handle(channel, data, n, &err) < 0)
		link_send_error(channel, &err);
}
