/* SPDX-License-Identifier: Apache-2.0
 *
 * client.c - the HTTP client of the command line.
 */
#include "cli/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

#define REPLY_MAX          ((size_t)64 * 1024 * 1024)
#define CONNECT_TIMEOUT_MS 10000L
#define REQUEST_TIMEOUT_MS 120000L

int cli_client_open(struct cli_client *client, struct inis_error *err)
{
	return cli_target_find(&client->target, err);
}

void cli_client_close(struct cli_client *client)
{
	cli_target_free(&client->target);
}

void cli_client_renew(struct cli_client *client)
{
	struct cli_target target = {NULL, NULL};

	if (cli_target_given() || !cli_target_running(&target))
		return;
	cli_target_free(&client->target);
	client->target = target;
}

static int add_header(struct cli_call *call, const char *name, const char *value)
{
	cleanup_free char *line = NULL;
	struct curl_slist *longer;

	if (asprintf(&line, "%s: %s", name, value) < 0) {
		line = NULL;
		return -1;
	}
	longer = curl_slist_append(call->headers, line);
	if (!longer)
		return -1;
	call->headers = longer;
	return 0;
}

static size_t on_header(char *line, size_t size, size_t count, void *user)
{
	static const char name[] = "x-inis-request-id:";
	struct cli_call *call = user;
	size_t length = size * count;
	long status = 0;

	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	if (length == 2 && line[0] == '\r')
		call->answered = status >= 200 && status < 300;
	if (length > sizeof(name) && strncasecmp(line, name, sizeof(name) - 1) == 0)
		snprintf(call->request_id, sizeof(call->request_id), "%.*s", (int)strcspn(line + sizeof(name), "\r\n"),
			 line + sizeof(name));
	return length;
}

static bool is_loopback(const char *base_url)
{
	const char *host = strstr(base_url, "://");

	if (!host)
		return false;
	host += 3;
	return strncmp(host, "127.", 4) == 0 || strncmp(host, "[::1]", 5) == 0 || strncmp(host, "localhost", 9) == 0;
}

int cli_call_begin(struct cli_call *call, const struct cli_client *client, const char *method, const char *path,
		   const json_t *body, struct inis_error *err)
{
	cleanup_free char *bearer = NULL;

	call->easy = curl_easy_init();
	if (!call->easy || asprintf(&call->url, "%s%s", client->target.base_url, path) < 0 ||
	    asprintf(&bearer, "Bearer %s", client->target.token) < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	if (add_header(call, "Authorization", bearer) < 0 || add_header(call, "Expect", "") < 0)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	if (body) {
		call->body = json_dumps(body, JSON_COMPACT);
		if (!call->body || add_header(call, "Content-Type", "application/json") < 0)
			return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		curl_easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(call->body));
		curl_easy_setopt(call->easy, CURLOPT_POSTFIELDS, call->body);
	}
	curl_easy_setopt(call->easy, CURLOPT_URL, call->url);
	curl_easy_setopt(call->easy, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
	curl_easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(call->easy, CURLOPT_HEADERDATA, call);
	curl_easy_setopt(call->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(call->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(call->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
	curl_easy_setopt(call->easy, CURLOPT_USERAGENT, "inis/" INIS_VERSION);
	if (is_loopback(client->target.base_url))
		curl_easy_setopt(call->easy, CURLOPT_PROXY, "");
	return 0;
}

void cli_call_end(struct cli_call *call)
{
	curl_easy_cleanup(call->easy);
	curl_slist_free_all(call->headers);
	free(call->url);
	free(call->body);
}

enum inis_code cli_code_named(const char *name)
{
	for (int code = INIS_OK + 1; name && code < INIS_CODE_COUNT; code++)
		if (strcmp(inis_code_name((enum inis_code)code), name) == 0)
			return (enum inis_code)code;
	return INIS_INTERNAL;
}

int cli_call_fail(const struct cli_call *call, CURLcode result, const struct inis_buf *answer, struct inis_error *err)
{
	json_t *reply;
	const char *text = NULL, *code = NULL;
	long status = 0;

	if (result != CURLE_OK)
		return inis_fail(err, INIS_BAD_GATEWAY, "%s: %s", call->url, curl_easy_strerror(result));
	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	reply = json_loadb((const char *)answer->data, answer->len, 0, NULL);
	if (json_unpack(reply, "{s:s, s?s}", "error", &text, "code", &code) < 0)
		text = NULL;
	inis_fail(err, cli_code_named(code), "%s (%s, HTTP %ld%s%s)", text ? text : "the server refused the request",
		  code ? code : "error", status, call->request_id[0] ? ", request " : "", call->request_id);
	json_decref(reply);
	return -1;
}

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
	struct inis_buf *answer = user;

	inis_buf_append(answer, data, size * count);
	return inis_buf_failed(answer) ? 0 : size * count;
}

int cli_request(const struct cli_client *client, const char *method, const char *path, const json_t *body,
		json_t **reply, struct inis_error *err)
{
	cleanup_call struct cli_call call = CLI_CALL_INIT;
	cleanup_buf struct inis_buf answer = INIS_BUF_INIT(REPLY_MAX);
	long status = 0;
	CURLcode result;

	if (cli_call_begin(&call, client, method, path, body, err) < 0)
		return -1;
	curl_easy_setopt(call.easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(call.easy, CURLOPT_WRITEDATA, &answer);
	curl_easy_setopt(call.easy, CURLOPT_TIMEOUT_MS, REQUEST_TIMEOUT_MS);
	result = curl_easy_perform(call.easy);
	if (result == CURLE_OK)
		curl_easy_getinfo(call.easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200 || status >= 300)
		return cli_call_fail(&call, result, &answer, err);
	if (!reply)
		return 0;
	*reply = json_loadb((const char *)answer.data, answer.len, 0, NULL);
	if (!*reply)
		return inis_fail(err, INIS_INTERNAL, "%s: the answer is not JSON", call.url);
	return 0;
}

int cli_client_supports(const struct cli_client *client, const char *extension, bool *supported, struct inis_error *err)
{
	json_t *health = NULL, *name;
	size_t index;

	if (cli_request(client, "GET", "/v1/healthz", NULL, &health, err) < 0)
		return -1;
	*supported = false;
	json_array_foreach (json_object_get(health, "extensions"), index, name)
		if (json_is_string(name) && strcmp(json_string_value(name), extension) == 0)
			*supported = true;
	json_decref(health);
	return 0;
}

int cli_client_require(const struct cli_client *client, const char *extension, struct inis_error *err)
{
	bool supported;

	if (cli_client_supports(client, extension, &supported, err) < 0)
		return -1;
	if (!supported)
		return inis_fail(err, INIS_NOT_IMPLEMENTED, "this server cannot do that (it lacks %s)", extension);
	return 0;
}
