/* SPDX-License-Identifier: Apache-2.0
 *
 * upload.c - PUT /v1/sessions/{id}/files/stream: a body of any size becomes a file.
 *
 * The agent writes to a temporary name and renames at the end, so whatever goes
 * wrong before leaves the old file.
 */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/feed.h"
#include "api/fields.h"
#include "api/handlers.h"
#include "api/object.h"

struct upload {
	struct feed feed;
	const char *path;
	uint32_t mode;
	EVP_MD_CTX *sha;
	bool sha_failed;
};

static void on_body(struct feed *f, const uint8_t *data, size_t n)
{
	struct upload *u = (struct upload *)f;

	if (!EVP_DigestUpdate(u->sha, data, n))
		u->sha_failed = true;
}

static void on_body_end(struct feed *f)
{
	agent_call_finish(f->op.call);
}

static void on_input(void *ctx)
{
	struct upload *u = ctx;

	if (!u->feed.ended)
		feed_room(&u->feed);
}

static void put_sha(struct object *o, struct upload *u)
{
	unsigned char digest[32];
	unsigned n = sizeof(digest);
	char hex[2 * sizeof(digest) + 1];

	if (u->sha_failed || !EVP_DigestFinal_ex(u->sha, digest, &n)) {
		o->failed = true;
		return;
	}
	for (unsigned i = 0; i < n; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", digest[i]);
	object_text(o, "sha256", hex);
}

static void on_done(void *ctx, const struct agent_result *r, const struct inis_error *err)
{
	static const struct inis_error early = {.code = INIS_SESSION_UNAVAILABLE,
						.message = "the sandbox ended the upload too early"};
	struct upload *u = ctx;
	struct object o;

	(void)r;
	if (err || !u->feed.ended) {
		op_fail(&u->feed.op, err ? err : &early);
		return;
	}
	o = object_new();
	object_text(&o, "path", u->path);
	object_int(&o, "bytes", (int64_t)u->feed.received);
	put_sha(&o, u);
	object_int(&o, "duration_ms", op_ms(&u->feed.op));
	op_json(&u->feed.op, 200, object_done(&o));
}

static void go(struct op *op)
{
	static const struct agent_handler handler = {.input = on_input, .done = on_done};
	struct upload *u = (struct upload *)op;
	struct inis_error err = INIS_ERROR_INIT;
	int64_t length = http_content_length(op->rq);
	struct inis_file_write m = {.path = {u->path, strlen(u->path)},
				    .mode = u->mode,
				    .size = length < 0 ? UINT64_MAX : (uint64_t)length};

	op_call(op, agent_file_write(op_agent(op), &m, &handler, op, &err), &err);
}

static void cleanup(struct op *op)
{
	EVP_MD_CTX_free(((struct upload *)op)->sha);
}

static int read_mode(struct upload *u, struct inis_error *err)
{
	const char *text = http_query(u->feed.op.rq, "mode");
	size_t digits = text ? strspn(text, "01234567") : 0;

	if (!text)
		return 0;
	u->mode = digits ? (uint32_t)strtoul(text, NULL, 8) : 0;
	if (digits == 0 || digits > 4 || text[digits] != '\0' || u->mode > 0777 || u->mode == 0)
		return inis_fail_field(err, "mode", "must be permission bits in octal digits, as 755");
	return 0;
}

static int prepare(struct upload *u, struct inis_error *err)
{
	if (query_path(u->feed.op.rq, &u->path, err) < 0 || read_mode(u, err) < 0)
		return -1;
	u->sha = EVP_MD_CTX_new();
	if (!u->sha || !EVP_DigestInit_ex(u->sha, EVP_sha256(), NULL))
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	return 0;
}

void upload_put(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct upload *u = op_new(rq, sizeof(*u), NULL, go);

	if (!u)
		return;
	u->feed.on_data = on_body;
	u->feed.on_end = on_body_end;
	u->feed.op.closed = feed_closed;
	u->feed.op.cleanup = cleanup;
	if (prepare(u, &err) < 0)
		op_fail(&u->feed.op, &err);
	else
		op_begin(&u->feed.op);
}
