/* SPDX-License-Identifier: Apache-2.0
 *
 * follow.c - the output of a named process, across connections.
 */
#include "cli/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "cli/interrupt.h"
#include "cli/sse.h"
#include "cli/verb.h"

#define AGAIN_FOR_MS 60000
#define PAUSE_MS     250
#define LOOK_MS      1000

struct attempt {
	struct cli_follow *follow;
	struct cli_call call;
	struct cli_sse sse;
	struct inis_buf refusal, chunk;
	char failure[256];
	bool exited, stopped, late;
};

static int take_output(struct attempt *a, int fd, const char *data, size_t length)
{
	uint64_t out, errout;

	inis_buf_reset(&a->chunk);
	if (!inis_base64_decode(&a->chunk, data, length)) {
		snprintf(a->failure, sizeof(a->failure), "the server sent output that cannot be read");
		return -1;
	}
	if (a->follow->output(a->follow->ctx, fd, a->chunk.data, a->chunk.len) < 0) {
		a->stopped = true;
		return -1;
	}
	/* Bytes that are no longer kept are skipped; only the server knows how many. */
	if (sscanf(a->sse.id, "%" SCNu64 ",%" SCNu64, &out, &errout) == 2) {
		a->follow->from[0] = out;
		a->follow->from[1] = errout;
	} else {
		a->follow->from[fd - 1] += a->chunk.len;
	}
	return 0;
}

static int on_event(void *user, const char *event, const char *data, size_t length)
{
	struct attempt *a = user;

	if (strcmp(event, "stdout") == 0)
		return take_output(a, 1, data, length);
	if (strcmp(event, "stderr") == 0)
		return take_output(a, 2, data, length);
	if (strcmp(event, "eof") == 0)
		a->exited = true;
	else if (strcmp(event, "error") == 0)
		snprintf(a->failure, sizeof(a->failure), "%.*s", (int)(length < 200 ? length : 200), data);
	return 0;
}

static size_t on_data(char *data, size_t size, size_t count, void *user)
{
	struct attempt *a = user;
	size_t length = size * count;
	long status = 0;

	curl_easy_getinfo(a->call.easy, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200) {
		inis_buf_append(&a->refusal, data, length);
		return inis_buf_failed(&a->refusal) ? 0 : length;
	}
	return cli_sse_feed(&a->sse, data, length) < 0 ? 0 : length;
}

static bool give_up_waiting(struct attempt *a)
{
	a->stopped |= cli_interrupted(a->follow->interrupts, 0) > 0;
	a->late |= inis_now_ms() >= a->follow->deadline;
	return a->stopped || a->late;
}

/* Waits for the transfer, a signal or the deadline. */
static CURLcode drive(struct attempt *a)
{
	struct curl_waitfd watch = {.fd = a->follow->interrupts, .events = CURL_WAIT_POLLIN};
	CURLcode result = CURLE_ABORTED_BY_CALLBACK;
	CURLM *multi = curl_multi_init();
	int running = 1, left;
	CURLMsg *message;

	if (!multi || curl_multi_add_handle(multi, a->call.easy) != CURLM_OK) {
		curl_multi_cleanup(multi);
		return CURLE_OUT_OF_MEMORY;
	}
	while (running && !give_up_waiting(a)) {
		int wait = inis_deadline_poll(a->follow->deadline);

		if (curl_multi_perform(multi, &running) != CURLM_OK)
			break;
		if (running)
			curl_multi_poll(multi, &watch, 1, wait < 0 || wait > LOOK_MS ? LOOK_MS : wait, NULL);
	}
	message = curl_multi_info_read(multi, &left);
	if (message && message->msg == CURLMSG_DONE)
		result = message->data.result;
	curl_multi_remove_handle(multi, a->call.easy);
	curl_multi_cleanup(multi);
	return result;
}

#define AGAIN 2 /* beside enum cli_follow_outcome: err may pass */

static int judge(struct attempt *a, CURLcode result, struct inis_error *err)
{
	long status = 0;

	if (a->exited)
		return CLI_FOLLOW_EXITED;
	if (a->stopped)
		return CLI_FOLLOW_STOPPED;
	if (a->late)
		return cli_fail_late(err, "process \"%s\" still runs", a->follow->name);
	if (a->failure[0])
		return inis_fail(err, INIS_INTERNAL, "%s", a->failure);
	curl_easy_getinfo(a->call.easy, CURLINFO_RESPONSE_CODE, &status);
	if (result != CURLE_OK || status != 200) {
		cli_call_fail(&a->call, result, &a->refusal, err);
		return result != CURLE_OK || status >= 500 ? AGAIN : -1;
	}
	inis_fail(err, INIS_BAD_GATEWAY, "the connection ended before the process did");
	return AGAIN;
}

static int try_once(struct attempt *a, struct inis_error *err)
{
	const struct cli_follow *f = a->follow;
	char path[384];

	snprintf(path, sizeof(path),
		 "/v1/sessions/%s/processes/%s/logs?follow=true&positions=1&ended=true&from=%" PRIu64
		 "&from_stderr=%" PRIu64,
		 f->session->id, f->name, f->from[0], f->from[1]);
	if (cli_call_begin(&a->call, f->client, "GET", path, NULL, err) < 0)
		return -1;
	curl_easy_setopt(a->call.easy, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(a->call.easy, CURLOPT_WRITEDATA, a);
	return judge(a, drive(a), err);
}

/* answered: the process is known, and the connection worked. */
static int attempt(struct cli_follow *follow, bool *answered, struct inis_error *err)
{
	struct attempt a = {.follow = follow,
			    .call = CLI_CALL_INIT,
			    .sse = CLI_SSE_INIT(on_event, &a),
			    .refusal = INIS_BUF_INIT(65536),
			    .chunk = INIS_BUF_INIT(CLI_SSE_LINE_MAX)};
	int rc = try_once(&a, err);

	*answered = a.call.answered;
	cli_call_end(&a.call);
	cli_sse_free(&a.sse);
	inis_buf_free(&a.refusal);
	inis_buf_free(&a.chunk);
	return rc;
}

int cli_follow(struct cli_follow *follow, struct inis_error *err)
{
	inis_ms give_up = 0; /* a first attempt that fails is the last */
	bool answered;
	int rc;

	while ((rc = attempt(follow, &answered, err)) == AGAIN) {
		if (answered)
			give_up = inis_deadline_in(AGAIN_FOR_MS);
		if (inis_now_ms() >= give_up)
			return -1;
		if (cli_interrupted(follow->interrupts, PAUSE_MS) > 0)
			return CLI_FOLLOW_STOPPED;
		cli_client_renew(follow->client);
	}
	return rc;
}
