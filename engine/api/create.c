/* SPDX-License-Identifier: Apache-2.0
 *
 * create.c - POST /v1/sessions.
 *
 * The answer waits for the session to come up, but not for long: one that takes
 * its time is answered 202 and goes on. What fails before the answer leaves
 * nothing behind.
 */
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "api/create.h"
#include "api/create_fields.h"
#include "api/fields.h"
#include "api/handlers.h"
#include "api/op.h"
#include "api/session_json.h"
#include "base/cleanup.h"
#include "base/metrics.h"

#define ANSWER_BY_MS 5000
#define KEY_MAX      255

static bool key_well_formed(const char *key)
{
	size_t n = 0;

	while (key[n] >= 0x20 && key[n] <= 0x7e)
		n++;
	return key[n] == '\0' && n >= 1 && n <= KEY_MAX;
}

/* SHA-256 of the request in canonical form, as hex. */
static int hash_body(const json_t *body, char hex[static 65], struct inis_error *err)
{
	cleanup_free char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
	unsigned char digest[32];
	unsigned n = sizeof(digest);
	int ok;

	if (!text)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	ok = EVP_Digest(text, strlen(text), digest, &n, EVP_sha256(), NULL);
	explicit_bzero(text, strlen(text));
	if (!ok)
		return inis_fail(err, INIS_UNAVAILABLE, "SHA-256 cannot be computed");
	for (unsigned i = 0; i < n; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", digest[i]);
	return 0;
}

static void answer(struct http_request *rq, const struct session *s)
{
	http_respond_json(rq, s->machine.state == M_CREATING ? 202 : 201, session_json(s));
}

static void on_removed(struct session *s, void *ctx, const struct inis_error *err)
{
	(void)s;
	(void)ctx;
	(void)err;
}

void create_failure(const struct session *s, struct inis_error *err)
{
	if (s->machine.state == M_FAILED)
		*err = s->failure;
	else
		session_check(s, err);
	if (err->code == INIS_INTERNAL || err->code == INIS_OK)
		err->code = INIS_UNAVAILABLE;
}

static void on_settled(struct session *s, void *ctx, const struct inis_error *err)
{
	struct inis_error failure = err ? *err : (struct inis_error)INIS_ERROR_INIT;
	struct http_request *rq = ctx;

	if (!err && !session_over(s)) {
		s->answered = true;
		answer(rq, s);
		return;
	}
	if (!err)
		create_failure(s, &failure);
	session_delete(s, END_CLIENT_DESTROY, on_removed, NULL);
	http_respond_error(rq, &failure);
}

/* true: the key names a session or a running request; answered. */
static bool replay(struct http_request *rq, const char *key, const char *hash)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct session *s = registry_by_key(api_of(rq)->registry, key);

	if (!s)
		return false;
	if (strcmp(s->idempotency_hash, hash) != 0)
		inis_fail(&err, INIS_CONFLICT, "this Idempotency-Key was used with another request");
	else if (!s->answered)
		inis_fail(&err, INIS_IDEMPOTENCY_KEY_IN_PROGRESS, "the first request with this key is still running");
	if (err.code)
		http_respond_error(rq, &err);
	else
		answer(rq, s);
	return true;
}

static int read_key(struct http_request *rq, const json_t *body, struct session_create *c, char hash[static 65],
		    struct inis_error *err)
{
	c->idempotency_key = http_header(rq, "idempotency-key");
	if (!c->idempotency_key)
		return 0;
	if (!key_well_formed(c->idempotency_key))
		return inis_fail_field(err, "Idempotency-Key", "must be 1 to %d printable ASCII characters", KEY_MAX);
	c->idempotency_hash = hash;
	return hash_body(body, hash, err);
}

struct session *create_start(struct http_request *rq, struct session_create *c, struct inis_error *err)
{
	struct registry *r = api_of(rq)->registry;
	struct session *s = NULL;

	inis_store_key_id(api_of(rq)->store, http_key(rq), c->owner);
	if (!c->spec.template_name || registry_check_template(r, c->spec.template_name, err) == 0)
		s = registry_create(r, c, err);
	if (!s)
		inis_count(&inis_metrics.creates[CREATE_REFUSED]);
	return s;
}

static void create(struct http_request *rq, const json_t *body)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct session_create c = {0};
	char hash[65] = "";
	struct session *s;

	if (read_key(rq, body, &c, hash, &err) < 0 || create_fields(body, &c.spec, &err) < 0) {
		inis_count(&inis_metrics.creates[CREATE_REFUSED]);
		http_respond_error(rq, &err);
		return;
	}
	if (c.idempotency_key && replay(rq, c.idempotency_key, hash)) {
		spec_free(&c.spec);
		return;
	}
	s = create_start(rq, &c, &err);
	spec_free(&c.spec);
	if (!s) {
		http_respond_error(rq, &err);
		return;
	}
	session_wait_settled(s, ANSWER_BY_MS, on_settled, rq);
}

void session_post(struct http_request *rq)
{
	json_t *body = op_body(rq);

	if (!body)
		return;
	create(rq, body);
	spec_wipe_map(json_object_get(body, "secrets"));
	json_decref(body);
}
