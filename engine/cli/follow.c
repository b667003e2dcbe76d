/* SPDX-License-Identifier: Apache-2.0
 *
 * follow.c - the output of a named process, across connections.
 */
#include "cli/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/events.h"
#include "cli/interrupt.h"
#include "cli/verb.h"

#define AGAIN_FOR_MS 60000
#define PAUSE_MS     250
#define LOOK_MS      1000

struct attempt {
	struct cli_follow *follow;
	struct cli_events events;
	bool exited, stopped, late;
};

static int on_output(void *user, int fd, const uint8_t *data, size_t n)
{
	struct attempt *a = user;
	uint64_t out, errout;

	if (a->follow->output(a->follow->ctx, fd, data, n) < 0) {
		a->stopped = true;
		return -1;
	}
	/* Bytes that are no longer kept are skipped; only the server knows how many. */
	if (sscanf(a->events.sse.id, "%" SCNu64 ",%" SCNu64, &out, &errout) == 2) {
		a->follow->from[0] = out;
		a->follow->from[1] = errout;
	} else {
		a->follow->from[fd - 1] += n;
	}
	return 0;
}

static void on_event(void *user, const char *event, const char *data, size_t length)
{
	struct attempt *a = user;

	(void)data;
	(void)length;
	if (strcmp(event, "eof") == 0)
		a->exited = true;
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

	if (!multi || curl_multi_add_handle(multi, a->events.call.easy) != CURLM_OK) {
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
	curl_multi_remove_handle(multi, a->events.call.easy);
	curl_multi_cleanup(multi);
	return result;
}

#define AGAIN 2 /* beside enum cli_follow_outcome: err may pass */

static int judge(struct attempt *a, CURLcode result, struct inis_error *err)
{
	bool again;

	if (a->exited)
		return CLI_FOLLOW_EXITED;
	if (a->stopped)
		return CLI_FOLLOW_STOPPED;
	if (a->late)
		return cli_fail_late(err, "process \"%s\" still runs", a->follow->name);
	cli_events_fail(&a->events, result, "the connection ended before the process did", &again, err);
	return again ? AGAIN : -1;
}

static int try_once(struct attempt *a, struct inis_error *err)
{
	const struct cli_follow *f = a->follow;
	char path[384];

	snprintf(path, sizeof(path),
		 "/v1/sessions/%s/processes/%s/logs?follow=true&positions=1&ended=true&from=%" PRIu64
		 "&from_stderr=%" PRIu64,
		 f->session->id, f->name, f->from[0], f->from[1]);
	if (cli_events_begin(&a->events, f->client, "GET", path, NULL, err) < 0)
		return -1;
	return judge(a, drive(a), err);
}

/* answered: the process is known, and the connection worked. */
static int attempt(struct cli_follow *follow, bool *answered, struct inis_error *err)
{
	struct attempt a = {.follow = follow, .events = {.output = on_output, .other = on_event, .user = &a}};
	int rc;

	cli_events_init(&a.events);
	rc = try_once(&a, err);
	*answered = a.events.call.answered;
	cli_events_end(&a.events);
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
