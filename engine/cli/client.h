/* SPDX-License-Identifier: Apache-2.0
 *
 * client.h - the HTTP client of the command line: one server, JSON in, JSON out.
 *
 * Errors hold the server's own text, code and request id. Redirects are not
 * followed and a proxy is never used for a loopback address.
 */
#ifndef INIS_CLI_CLIENT_H
#define INIS_CLI_CLIENT_H

#include <curl/curl.h>
#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "cli/target.h"

struct cli_client {
	struct cli_target target;
};

/* Finds the server, starting the embedded engine when there is no other. */
int cli_client_open(struct cli_client *client, struct inis_error *err);
void cli_client_close(struct cli_client *client);
/* Looks where the embedded engine is now; for one that was started again. Starts none. */
void cli_client_renew(struct cli_client *client);
#define CLI_CLIENT_INIT            \
	{                          \
		{                  \
			NULL, NULL \
		}                  \
	}
#define cleanup_client __attribute__((cleanup(cli_client_close)))

/* body may be NULL (none is sent) and stays the caller's; *reply (may be NULL) is the caller's. */
int cli_request(const struct cli_client *client, const char *method, const char *path, const json_t *body,
		json_t **reply, struct inis_error *err);

/* Whether GET /v1/healthz lists the extension. */
int cli_client_supports(const struct cli_client *client, const char *extension, bool *supported,
			struct inis_error *err);

/* not_implemented, naming the extension, when the server lacks it. */
int cli_client_require(const struct cli_client *client, const char *extension, struct inis_error *err);

/* A code of the API by its name, which may be NULL; internal for one that we do not know. */
enum inis_code cli_code_named(const char *name);

/* One request being made; for callers that drive it themselves. */
struct cli_call {
	CURL *easy;
	struct curl_slist *headers;
	char *url;
	char *body;
	char request_id[64];
	bool answered; /* the head of a successful answer is here */
};

#define CLI_CALL_INIT        \
	{                    \
		.easy = NULL \
	}
#define cleanup_call __attribute__((cleanup(cli_call_end)))

int cli_call_begin(struct cli_call *call, const struct cli_client *client, const char *method, const char *path,
		   const json_t *body, struct inis_error *err);
void cli_call_end(struct cli_call *call);

/*
 * Sets *err from a transfer that failed (result: bad_gateway) or an answer >= 400 (its body: the server's own code);
 * returns -1.
 */
int cli_call_fail(const struct cli_call *call, CURLcode result, const struct inis_buf *answer, struct inis_error *err);

#endif
