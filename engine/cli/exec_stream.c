/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_stream.c - one command over the streaming exec.
 *
 * DOC: How it works
 *
 * Two transfers are driven by hand on one loop, so that a signal ends the wait at once: the event stream, and from the
 * moment that its head says that the command runs, the request that carries its stdin. What cannot be read yet from our
 * side pauses that one. Leaving the stream is what cancels the command on the server.
 */
#include "cli/exec_stream.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/id.h"
#include "cli/events.h"
#include "cli/interrupt.h"

#define EXEC_ID_LENGTH 24
#define TICK_MS        250

struct stream {
	const struct cli_exec *exec;
	struct cli_exec_end *end;
	CURLM *multi;
	struct cli_events events; /* its failure is also that of the input */
	bool ended, stopped;
	bool over; /* the transfer of events is */
	CURLcode result; /* of it */
	char exec_id[EXEC_ID_LENGTH + 1];
	struct cli_call feed;
	struct inis_buf feed_answer;
	bool feeding, paused, input_broken;
};

/* ---- events ---- */

static int on_output(void *user, int fd, const uint8_t *data, size_t n)
{
	struct stream *s = user;

	s->stopped = s->exec->output(s->exec->ctx, fd, data, n) < 0;
	return s->stopped ? -1 : 0;
}

static void on_event(void *user, const char *event, const char *data, size_t length)
{
	struct stream *s = user;
	int timed_out = 0, oom = 0;

	if (strcmp(event, "exit") != 0)
		return;
	s->end->event = json_loadb(data, length, 0, NULL);
	if (json_unpack(s->end->event, "{s:i, s?b, s?b}", "exit_code", &s->end->exit_code, "timed_out", &timed_out,
			"oom", &oom) < 0)
		snprintf(s->events.failure, sizeof(s->events.failure), "the server's exit event cannot be read");
	else
		s->ended = true;
	s->end->timed_out = timed_out;
	s->end->oom = oom;
}

/* ---- input ---- */

static bool readable(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	return poll(&ready, 1, 0) > 0;
}

static size_t on_feed(char *to, size_t size, size_t count, void *user)
{
	struct stream *s = user;
	ssize_t n;

	if (!readable(s->exec->input_fd)) {
		s->paused = true;
		return CURL_READFUNC_PAUSE;
	}
	do
		n = read(s->exec->input_fd, to, size * count);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		s->input_broken = true;
		snprintf(s->events.failure, sizeof(s->events.failure), "cannot read the input: %s", strerror(errno));
		return CURL_READFUNC_ABORT;
	}
	return (size_t)n;
}

static size_t on_feed_answer(char *data, size_t size, size_t count, void *user)
{
	struct stream *s = user;

	inis_buf_append(&s->feed_answer, data, size * count);
	return size * count;
}

static int begin_feed(struct stream *s, const struct cli_client *client, const struct cli_session *session,
		      struct inis_error *err)
{
	struct curl_slist *longer;
	char path[192];

	s->feeding = true;
	snprintf(path, sizeof(path), "/v1/sessions/%s/execs/%s/stdin?eof=true", session->id, s->exec_id);
	if (cli_call_begin(&s->feed, client, "POST", path, NULL, err) < 0)
		return -1;
	longer = curl_slist_append(s->feed.headers, "Transfer-Encoding: chunked");
	if (!longer)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	s->feed.headers = longer;
	curl_easy_setopt(s->feed.easy, CURLOPT_HTTPHEADER, s->feed.headers);
	curl_easy_setopt(s->feed.easy, CURLOPT_POST, 1L);
	curl_easy_setopt(s->feed.easy, CURLOPT_READFUNCTION, on_feed);
	curl_easy_setopt(s->feed.easy, CURLOPT_READDATA, s);
	curl_easy_setopt(s->feed.easy, CURLOPT_WRITEFUNCTION, on_feed_answer);
	curl_easy_setopt(s->feed.easy, CURLOPT_WRITEDATA, s);
	curl_easy_setopt(s->feed.easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L * 1024);
	if (curl_multi_add_handle(s->multi, s->feed.easy) != CURLM_OK)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	return 0;
}

/* That the command reads no more, or is over, is its own affair; that the rest of its input is lost is ours. */
static void feed_over(struct stream *s, CURLcode result)
{
	struct inis_error why = INIS_ERROR_INIT;
	long status = 0;

	curl_easy_getinfo(s->feed.easy, CURLINFO_RESPONSE_CODE, &status);
	if (s->input_broken || (status >= 200 && status < 300) || status == 404 || status == 409 || status == 410)
		return;
	cli_call_fail(&s->feed, result, &s->feed_answer, &why);
	snprintf(s->events.failure, sizeof(s->events.failure), "the input could not be passed on: %.200s", why.message);
	s->input_broken = true;
}

/* ---- the loop ---- */

static void wait_for_something(struct stream *s)
{
	struct curl_waitfd watch[] = {{.fd = s->exec->interrupts, .events = CURL_WAIT_POLLIN},
				      {.fd = s->exec->input_fd, .events = CURL_WAIT_POLLIN}};

	curl_multi_poll(s->multi, watch, s->paused ? 2 : 1, s->exec->tick ? TICK_MS : 1000, NULL);
	if (s->paused && readable(s->exec->input_fd)) {
		s->paused = false;
		curl_easy_pause(s->feed.easy, CURLPAUSE_CONT);
	}
}

static void take_messages(struct stream *s)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(s->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		if (message->easy_handle == s->events.call.easy) {
			s->over = true;
			s->result = message->data.result;
		} else {
			s->paused = false;
			feed_over(s, message->data.result);
		}
	}
}

static int drive(struct stream *s, const struct cli_client *client, const struct cli_session *session,
		 struct inis_error *err)
{
	int running;

	while (!s->over && !s->input_broken && !s->stopped) {
		if (cli_interrupted(s->exec->interrupts, 0)) {
			s->stopped = true;
			break;
		}
		if (curl_multi_perform(s->multi, &running) != CURLM_OK)
			return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		take_messages(s);
		if (s->events.call.answered && !s->feeding && s->exec->input_fd >= 0) {
			if (begin_feed(s, client, session, err) < 0)
				return -1;
			continue;
		}
		if (s->exec->tick)
			s->exec->tick(s->exec->ctx);
		if (!s->over && !s->input_broken)
			wait_for_something(s);
	}
	return 0;
}

static int outcome(struct stream *s, struct inis_error *err)
{
	if (s->ended)
		return CLI_EXEC_ENDED;
	if (s->stopped)
		return CLI_EXEC_STOPPED;
	return cli_events_fail(&s->events, s->result, "the connection ended before the command did", NULL, err);
}

/* ---- the request ---- */

static int put_input(const struct stream *s, json_t *body, struct inis_error *err)
{
	cleanup_buf struct inis_buf text = INIS_BUF_INIT(0);
	const struct inis_buf *input = s->exec->input;
	int rc = 0;

	if (input && input->len > 0) {
		inis_base64_encode(&text, input->data, input->len);
		rc |= json_object_set_new(body, "stdin", json_stringn((const char *)text.data, text.len));
		rc |= json_object_set_new(body, "stdin_encoding", json_string("base64"));
	}
	if (s->exec->input_fd >= 0) {
		rc |= json_object_set_new(body, "stdin_open", json_true());
		rc |= json_object_set_new(body, "exec_id", json_string(s->exec_id));
	}
	return rc ? inis_fail(err, INIS_UNAVAILABLE, "out of memory") : 0;
}

static json_t *request_body(const struct stream *s, struct inis_error *err)
{
	const struct cli_exec *exec = s->exec;
	json_t *body = json_pack("{s:[], s:s*, s:I, s:O*}", "command", "cwd", exec->cwd, "timeout_ms", exec->timeout_ms,
				 "env", exec->env);
	json_t *argv = json_object_get(body, "command");
	int rc = body ? 0 : inis_fail(err, INIS_BAD_REQUEST, "the command is not UTF-8 text");

	for (char *const *arg = exec->argv; rc == 0 && *arg; arg++)
		if (json_array_append_new(argv, json_string(*arg)) < 0)
			rc = inis_fail(err, INIS_BAD_REQUEST, "an argument of the command is not UTF-8 text");
	if (rc == 0)
		rc = put_input(s, body, err);
	if (rc == 0)
		return body;
	json_decref(body);
	return NULL;
}

/* What a server without our additions would ignore in silence is refused here. */
static int check_extensions(const struct cli_client *client, const struct cli_exec *exec, struct inis_error *err)
{
	const char *needed[] = {exec->env ? "exec.env" : NULL, exec->input && exec->input->len ? "exec.stdin" : NULL,
				exec->input_fd >= 0 ? "exec.stdin.stream" : NULL};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (needed[i] && cli_client_require(client, needed[i], err) < 0)
			return -1;
	return 0;
}

static int run(struct stream *s, const struct cli_client *client, const struct cli_session *session,
	       struct inis_error *err)
{
	json_t *body = request_body(s, err);
	char path[128];
	int rc;

	if (!body)
		return -1;
	snprintf(path, sizeof(path), "/v1/sessions/%s/exec?stream=true", session->id);
	rc = cli_events_begin(&s->events, client, "POST", path, body, err);
	json_decref(body);
	if (rc < 0)
		return -1;
	s->multi = curl_multi_init();
	if (!s->multi || curl_multi_add_handle(s->multi, s->events.call.easy) != CURLM_OK)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	rc = drive(s, client, session, err);
	return rc < 0 ? -1 : outcome(s, err);
}

int cli_exec_stream(const struct cli_client *client, const struct cli_session *session, const struct cli_exec *exec,
		    struct cli_exec_end *end, struct inis_error *err)
{
	struct stream s = {
		.exec = exec,
		.end = end,
		.events = {.output = on_output, .other = on_event, .user = &s},
		.feed = CLI_CALL_INIT,
		.feed_answer = INIS_BUF_INIT(65536),
	};
	int rc;

	cli_events_init(&s.events);
	*end = (struct cli_exec_end){0};
	rc = check_extensions(client, exec, err);
	if (rc == 0 && exec->input_fd >= 0)
		rc = inis_random_text(s.exec_id, EXEC_ID_LENGTH, err);
	if (rc == 0)
		rc = run(&s, client, session, err);
	if (s.multi && s.feed.easy)
		curl_multi_remove_handle(s.multi, s.feed.easy);
	if (s.multi && s.events.call.easy)
		curl_multi_remove_handle(s.multi, s.events.call.easy);
	curl_multi_cleanup(s.multi);
	cli_call_end(&s.feed);
	cli_events_end(&s.events);
	inis_buf_free(&s.feed_answer);
	return rc;
}
