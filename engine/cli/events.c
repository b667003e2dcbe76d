/* SPDX-License-Identifier: Apache-2.0
 *
 * events.c - a call that answers with the output of a command as an event stream.
 */
#include "cli/events.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"

static int take_output(struct cli_events *ev, int fd, const char *data, size_t length)
{
	inis_buf_reset(&ev->chunk);
	if (!inis_base64_decode(&ev->chunk, data, length)) {
		snprintf(ev->failure, sizeof(ev->failure), "the server sent output that cannot be read");
		return -1;
	}
	return ev->output(ev->user, fd, ev->chunk.data, ev->chunk.len);
}

static int on_event(void *user, const char *event, const char *data, size_t length)
{
	struct cli_events *ev = user;

	if (strcmp(event, "stdout") == 0)
		return take_output(ev, 1, data, length);
	if (strcmp(event, "stderr") == 0)
		return take_output(ev, 2, data, length);
	if (strcmp(event, "error") == 0)
		snprintf(ev->failure, sizeof(ev->failure), "%.*s", (int)(length < 200 ? length : 200), data);
	else
		ev->other(ev->user, event, data, length);
	return 0;
}

static size_t on_data(char *data, size_t size, size_t count, void *user)
{
	struct cli_events *ev = user;
	size_t length = size * count;
	long status = 0;

	curl_easy_getinfo(ev->call.easy, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200) {
		inis_buf_append(&ev->refusal, data, length);
		return inis_buf_failed(&ev->refusal) ? 0 : length;
	}
	return cli_sse_feed(&ev->sse, data, length) < 0 ? 0 : length;
}

void cli_events_init(struct cli_events *ev)
{
	ev->call = (struct cli_call)CLI_CALL_INIT;
	ev->sse = (struct cli_sse)CLI_SSE_INIT(on_event, ev);
	ev->refusal = (struct inis_buf)INIS_BUF_INIT(65536);
	ev->chunk = (struct inis_buf)INIS_BUF_INIT(CLI_SSE_LINE_MAX);
}

int cli_events_begin(struct cli_events *ev, const struct cli_client *client, const char *method, const char *path,
		     const json_t *body, struct inis_error *err)
{
	if (cli_call_begin(&ev->call, client, method, path, body, err) < 0)
		return -1;
	curl_easy_setopt(ev->call.easy, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(ev->call.easy, CURLOPT_WRITEDATA, ev);
	return 0;
}

int cli_events_fail(const struct cli_events *ev, CURLcode result, const char *unfinished, bool *again,
		    struct inis_error *err)
{
	long status = 0;

	curl_easy_getinfo(ev->call.easy, CURLINFO_RESPONSE_CODE, &status);
	if (again)
		*again = !ev->failure[0] && (result != CURLE_OK || status == 200 || status >= 500);
	if (ev->failure[0])
		return inis_fail(err, INIS_INTERNAL, "%s", ev->failure);
	if (result != CURLE_OK || status != 200)
		return cli_call_fail(&ev->call, result, &ev->refusal, err);
	return inis_fail(err, INIS_BAD_GATEWAY, "%s", unfinished);
}

void cli_events_end(struct cli_events *ev)
{
	cli_call_end(&ev->call);
	cli_sse_free(&ev->sse);
	inis_buf_free(&ev->refusal);
	inis_buf_free(&ev->chunk);
}
