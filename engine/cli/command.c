/* SPDX-License-Identifier: Apache-2.0
 *
 * command.c - runs one command over the streaming exec.
 *
 * DOC: How it works
 *
 * One transfer is driven by hand, so that a signal ends the wait at once. Leaving
 * the stream is what cancels the command on the server. Output is written in
 * pieces that a ready pipe takes without blocking: a stuck reader of ours cannot
 * keep a signal from being seen, and stops the transfer instead of filling memory.
 */
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "cli/interrupt.h"
#include "cli/sse.h"

struct run {
	struct cli_call call;
	struct cli_sse sse;
	struct inis_buf refusal; /* the answer, when it is not a stream */
	struct inis_buf chunk;
	char failure[256]; /* text of an error event */
	int interrupts;
	int exit_code; /* -1 until known */
};

/* The exit code of a program that the signal ended. */
static int by_signal(int signo)
{
	return 128 + signo;
}

static int write_out(struct run *run, int fd, const uint8_t *data, size_t length)
{
	struct pollfd ready[] = {{.fd = fd, .events = POLLOUT}, {.fd = run->interrupts, .events = POLLIN}};
	ssize_t written;

	while (length > 0) {
		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return -1;
		if (ready[1].revents)
			return -1;
		written = write(fd, data, length < PIPE_BUF ? length : PIPE_BUF);
		if (written < 0 && errno != EAGAIN && errno != EINTR) {
			run->exit_code = by_signal(SIGPIPE);
			return -1;
		}
		if (written > 0) {
			data += written;
			length -= (size_t)written;
		}
	}
	return 0;
}

static int take_exit(struct run *run, const char *data, size_t length)
{
	json_t *result = json_loadb(data, length, 0, NULL);
	int timed_out = 0, oom = 0;

	if (json_unpack(result, "{s:i, s?b, s?b}", "exit_code", &run->exit_code, "timed_out", &timed_out, "oom", &oom) <
	    0)
		snprintf(run->failure, sizeof(run->failure), "the server's exit event cannot be read");
	if (timed_out)
		fputs("inis: the command ran into its timeout and was stopped\n", stderr);
	if (oom)
		fputs("inis: the memory limit of the session stopped a process of the command\n", stderr);
	json_decref(result);
	return 0;
}

static int on_event(void *user, const char *event, const char *data, size_t length)
{
	struct run *run = user;
	int fd = strcmp(event, "stdout") == 0 ? 1 : strcmp(event, "stderr") == 0 ? 2 : -1;

	if (strcmp(event, "exit") == 0)
		return take_exit(run, data, length);
	if (strcmp(event, "error") == 0)
		snprintf(run->failure, sizeof(run->failure), "%.*s", (int)(length < 200 ? length : 200), data);
	if (fd < 0)
		return 0;
	inis_buf_reset(&run->chunk);
	if (!inis_base64_decode(&run->chunk, data, length)) {
		snprintf(run->failure, sizeof(run->failure), "the server sent output that cannot be read");
		return -1;
	}
	return write_out(run, fd, run->chunk.data, run->chunk.len);
}

static size_t on_data(char *data, size_t size, size_t count, void *user)
{
	struct run *run = user;
	size_t length = size * count;
	long status = 0;

	curl_easy_getinfo(run->call.easy, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200) {
		inis_buf_append(&run->refusal, data, length);
		return inis_buf_failed(&run->refusal) ? 0 : length;
	}
	return cli_sse_feed(&run->sse, data, length) < 0 ? 0 : length;
}

/* Drives the transfer to its end or to a signal; CURLE_ABORTED_BY_CALLBACK for the latter. */
static CURLcode drive(struct run *run)
{
	struct curl_waitfd watch = {.fd = run->interrupts, .events = CURL_WAIT_POLLIN};
	CURLcode result = CURLE_ABORTED_BY_CALLBACK;
	CURLM *multi = curl_multi_init();
	int running = 1, left;
	CURLMsg *message;

	if (!multi || curl_multi_add_handle(multi, run->call.easy) != CURLM_OK) {
		curl_multi_cleanup(multi);
		return CURLE_OUT_OF_MEMORY;
	}
	while (running && !cli_interrupted(run->interrupts, 0)) {
		if (curl_multi_perform(multi, &running) != CURLM_OK)
			break;
		if (running)
			curl_multi_poll(multi, &watch, 1, 1000, NULL);
	}
	message = curl_multi_info_read(multi, &left);
	if (message && message->msg == CURLMSG_DONE)
		result = message->data.result;
	curl_multi_remove_handle(multi, run->call.easy);
	curl_multi_cleanup(multi);
	return result;
}

static json_t *request_body(const struct cli_command *command, const struct inis_buf *input, struct inis_error *err)
{
	json_t *body = json_pack("{s:[], s:s*, s:I, s:O*}", "command", "cwd", command->cwd, "timeout_ms",
				 command->timeout_ms, "env", command->env);
	json_t *argv = json_object_get(body, "command");

	for (char *const *arg = command->argv; body && *arg; arg++)
		if (json_array_append_new(argv, json_string(*arg)) < 0) {
			inis_fail(err, INIS_BAD_REQUEST, "an argument of the command is not UTF-8 text");
			json_decref(body);
			return NULL;
		}
	if (body && input->len > 0) {
		cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);

		inis_base64_encode(&text, input->data, input->len);
		json_object_set_new(body, "stdin", json_stringn((const char *)text.data, text.len));
		json_object_set_new(body, "stdin_encoding", json_string("base64"));
	}
	if (!body)
		inis_fail(err, INIS_BAD_REQUEST, "the command is not UTF-8 text");
	return body;
}

/* What a server without our additions would ignore in silence is refused here. */
static int check_extensions(const struct cli_client *client, const struct cli_command *command,
			    const struct inis_buf *input, struct inis_error *err)
{
	const char *needed[] = {command->env ? "exec.env" : NULL, input->len > 0 ? "exec.stdin" : NULL};
	bool supported;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!needed[i])
			continue;
		if (cli_client_supports(client, needed[i], &supported, err) < 0)
			return -1;
		if (!supported)
			return inis_fail(err, INIS_NOT_IMPLEMENTED, "this server cannot do that (it lacks %s)",
					 needed[i]);
	}
	return 0;
}

static int outcome(struct run *run, CURLcode result, struct inis_error *err)
{
	int signo = cli_interrupted(run->interrupts, 0);
	long status = 0;

	if (run->exit_code >= 0)
		return run->exit_code;
	if (signo)
		return by_signal(signo);
	if (run->failure[0])
		return inis_fail(err, INIS_INTERNAL, "%s", run->failure);
	curl_easy_getinfo(run->call.easy, CURLINFO_RESPONSE_CODE, &status);
	if (result != CURLE_OK || status != 200)
		return cli_call_fail(&run->call, result, &run->refusal, err);
	return inis_fail(err, INIS_UNAVAILABLE, "the connection ended before the command did");
}

int cli_command_run(const struct cli_client *client, const struct cli_session *session,
		    const struct cli_command *command, const struct inis_buf *input, int interrupts,
		    struct inis_error *err)
{
	struct run run = {
		.call = CLI_CALL_INIT,
		.sse = CLI_SSE_INIT(on_event, &run),
		.refusal = INIS_BUF_INIT(65536),
		.chunk = INIS_BUF_INIT(CLI_SSE_LINE_MAX),
		.interrupts = interrupts,
		.exit_code = -1,
	};
	int code = -1;
	char path[128];
	json_t *body;

	if (check_extensions(client, command, input, err) < 0)
		return -1;
	body = request_body(command, input, err);
	snprintf(path, sizeof(path), "/v1/sessions/%s/exec?stream=true", session->id);
	if (body && cli_call_begin(&run.call, client, "POST", path, body, err) == 0) {
		curl_easy_setopt(run.call.easy, CURLOPT_WRITEFUNCTION, on_data);
		curl_easy_setopt(run.call.easy, CURLOPT_WRITEDATA, &run);
		code = outcome(&run, drive(&run), err);
	}
	json_decref(body);
	cli_call_end(&run.call);
	cli_sse_free(&run.sse);
	inis_buf_free(&run.refusal);
	inis_buf_free(&run.chunk);
	return code;
}
