/* SPDX-License-Identifier: Apache-2.0
 *
 * audit.c - what is written down of a command.
 */
#include "api/audit.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/encode.h"
#include "api/object.h"
#include "base/cleanup.h"

#define ARGV_MAX ((size_t)32 * 1024) /* bytes of a command that are kept */

static const char *const KINDS[] = {"exec", "batch_exec", "one_shot", "process", "pty"};

static void put_hex(struct object *o, const char *name, const unsigned char *bytes, size_t n)
{
	char hex[2 * EVP_MAX_MD_SIZE + 1];

	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	object_text(o, name, hex);
}

static void put_key(struct object *o, struct http_request *rq)
{
	char id[INIS_KEY_ID_SIZE] = "";

	inis_store_key_id(api_of(rq)->store, http_key(rq), id);
	object_text(o, "key_id", id[0] ? id : NULL);
}

/* Each argument with a NUL after it. */
static void put_hash(struct object *o, const struct inis_str *argv, uint32_t argc)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	bool ok = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL);

	for (uint32_t i = 0; ok && i < argc; i++)
		ok = EVP_DigestUpdate(md, argv[i].s, argv[i].len) && EVP_DigestUpdate(md, "", 1);
	ok = ok && EVP_DigestFinal_ex(md, digest, &n);
	EVP_MD_CTX_free(md);
	if (ok)
		put_hex(o, "command_sha256", digest, n);
	else
		o->failed = true;
}

static json_t *text(struct inis_str s, size_t *room)
{
	size_t n = s.len;

	if (n > *room)
		n = encode_trim_end((const uint8_t *)s.s, *room);
	*room -= n;
	return json_stringn(s.s, n);
}

static void put_argv(struct object *o, const struct inis_str *argv, uint32_t argc)
{
	size_t room = ARGV_MAX, total = 0;
	json_t *list = json_array();

	for (uint32_t i = 0; i < argc; i++) {
		total += argv[i].len;
		if (room > 0 && json_array_append_new(list, text(argv[i], &room)) < 0)
			o->failed = true;
	}
	object_take(o, "command", list);
	object_flag(o, "command_truncated", total > ARGV_MAX);
}

static void put_command(struct object *o, int capture, const struct inis_str *argv, uint32_t argc)
{
	size_t room = ARGV_MAX;

	if (argc == 0)
		return;
	if (capture == CAPTURE_FULL)
		put_argv(o, argv, argc);
	else if (capture == CAPTURE_EXECUTABLE)
		object_take(o, "executable", text(argv[0], &room));
	else
		put_hash(o, argv, argc);
}

static void write_down(const struct audit *a)
{
	struct inis_audit_row row = a->row;
	cleanup_free char *doc = json_dumps(a->doc, JSON_COMPACT);

	row.doc = doc;
	if (doc)
		inis_store_audit_put(a->store, &row);
}

void audit_begin(struct audit *a, struct http_request *rq, const struct session *s, enum audit_kind kind,
		 const char *name, const struct inis_str *argv, uint32_t argc)
{
	struct object o = object_new();

	object_text(&o, "kind", KINDS[kind]);
	object_text(&o, "name", name);
	put_key(&o, rq);
	put_command(&o, s->spec.command_capture, argv, argc);
	a->doc = object_done(&o);
	if (!a->doc)
		return;
	a->store = api_of(rq)->store;
	a->row =
		(struct inis_audit_row){.seq = inis_store_audit_next(a->store), .session = s->id, .at = inis_wall_ms()};
	write_down(a);
}

static void put_end(struct object *o, const struct inis_exited *e)
{
	object_int(o, "exit_code", e->exit_code);
	object_flag(o, "timed_out", e->flags & INIS_EXIT_TIMED_OUT);
	object_int(o, "duration_ms", (int64_t)e->duration_ms);
	if (e->cpu_us)
		object_int(o, "cpu_ms", (int64_t)(e->cpu_us / 1000));
}

void audit_end(struct audit *a, const struct inis_exited *e, const struct inis_error *err)
{
	struct object o = {.json = a->doc};

	if (!a->store)
		return;
	if (e)
		put_end(&o, e);
	else if (err)
		object_text(&o, "error", inis_code_name(err->code));
	if (e || err) {
		a->row.ended_at = inis_wall_ms();
		write_down(a);
	}
	json_decref(a->doc);
	*a = (struct audit){0};
}
