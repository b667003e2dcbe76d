/* SPDX-License-Identifier: Apache-2.0
 *
 * command.c - a command in a session with our own streams.
 *
 * A stuck reader of ours stops the transfer instead of filling memory.
 */
#include "cli/command.h"

#include "cli/exec_stream.h"
#include "cli/input.h"
#include "cli/output.h"

static int on_output(void *ctx, int fd, const uint8_t *data, size_t n)
{
	const int *interrupts = ctx;

	if (!cli_json)
		return cli_write(fd, data, n, *interrupts);
	return cli_write_json_line(cli_output_event(fd == 1 ? "stdout" : "stderr", data, n), *interrupts);
}

static int exit_code(const struct cli_exec_end *end, int interrupts)
{
	if (cli_json) {
		json_object_set_new(end->event, "event", json_string("exit"));
		cli_write_json_line(json_incref(end->event), interrupts);
	} else {
		if (end->timed_out)
			cli_say("the command ran into its timeout and was stopped");
		if (end->oom)
			cli_say("the memory limit of the session stopped a process of the command");
	}
	return end->exit_code;
}

int cli_command_run(const struct cli_client *client, const struct cli_session *session,
		    const struct cli_command *command, int interrupts, struct inis_error *err)
{
	cleanup_buf struct inis_buf input = INIS_BUF_INIT(0);
	struct cli_exec exec = {.argv = command->argv,
				.cwd = command->cwd,
				.timeout_ms = command->timeout_ms,
				.env = command->env,
				.input = &input,
				.input_fd = -1,
				.interrupts = interrupts,
				.output = on_output,
				.ctx = &interrupts};
	struct cli_exec_end end;
	int code;

	if (!command->no_stdin && cli_input_begin(client, &input, &exec.input_fd, interrupts, err) < 0)
		return -1;
	code = cli_exec_stream(client, session, &exec, &end, err);
	if (code == CLI_EXEC_ENDED)
		code = exit_code(&end, interrupts);
	else if (code == CLI_EXEC_STOPPED)
		code = cli_stopped(interrupts);
	json_decref(end.event);
	return code;
}
