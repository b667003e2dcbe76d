/* SPDX-License-Identifier: Apache-2.0
 *
 * one_shot.c - POST /v1/sessions/exec: a program in a session of its own.
 *
 * Create, write the source, install what it depends on, run, destroy, answer; whatever happens on the way leads to
 * destroy, and the answer waits for that. A client that leaves has nobody to tell the result to: its session goes at
 * once. The session is marked, so that a server that starts anew does not keep it.
 */
#include <stdlib.h>
#include <string.h>

#include "api/capture.h"
#include "api/create.h"
#include "api/create_fields.h"
#include "api/encode.h"
#include "api/exec_json.h"
#include "api/fields.h"
#include "api/file_ops.h"
#include "api/handlers.h"
#include "api/language.h"
#include "api/op.h"

#define PACKAGE_MAX 1024

struct one_shot {
	struct capture capture; /* first */
	struct http_request *rq;
	json_t *body;
	struct session *session;
	const struct language *language;
	struct inis_buf source;
	const json_t *packages; /* of body; NULL: none */
	json_t *env; /* for the program */
	struct command command;
	int64_t timeout_ms; /* of installation and program together; what is left */
	struct file_put put;
	int64_t begun_us;
	int64_t restore_ms;
	int64_t install_ms;
	bool uses;
	json_t *result; /* or */
	struct inis_error error; /* why there is none */
};

/* ---- end ---- */

static void one_shot_free(struct one_shot *o)
{
	capture_free(&o->capture);
	command_free(&o->command);
	inis_buf_free(&o->source);
	json_decref(o->env);
	json_decref(o->body);
	json_decref(o->result);
	session_unref(o->session);
	free(o);
}

static void on_destroyed(struct session *s, void *ctx, const struct inis_error *err)
{
	struct one_shot *o = ctx;
	struct http_request *rq = o->rq;
	struct inis_error error = o->error;
	json_t *result = o->result;

	/* That it could not be written down that it is gone takes nothing from the result. */
	(void)err;
	if (o->uses)
		session_use_end(s);
	o->result = NULL;
	one_shot_free(o);
	if (error.code)
		http_respond_error(rq, &error);
	else
		http_respond_json(rq, 200, result);
}

static void finish(struct one_shot *o)
{
	session_delete(o->session, END_CLIENT_DESTROY, on_destroyed, o);
}

/* The client knows of no session: that it is gone is the server's failure. */
static void fail(struct one_shot *o, const struct inis_error *err)
{
	o->error = *err;
	if (err->code == INIS_NOT_FOUND || err->code == INIS_SESSION_ENDED || err->code == INIS_SESSION_NOT_LIVE)
		inis_fail(&o->error, INIS_SESSION_UNAVAILABLE, "the session ended before the program did");
	finish(o);
}

/* ---- run ---- */

static void put_result(struct one_shot *o, const struct inis_exited *e, const char *phase)
{
	struct object json = object_new();

	exec_json_result(&json, o->capture.out, ENCODE_CAP, e);
	object_text(&json, "phase", phase);
	if (o->packages)
		object_int(&json, "install_ms", o->install_ms);
	object_int(&json, "restore_ms", o->restore_ms);
	object_text(&json, "session_id", o->session->id.s);
	o->result = object_done(&json);
}

static void start(struct one_shot *o, const char *const *words, const json_t *more,
		  void (*done)(struct capture *c, const struct inis_exited *e, const struct inis_error *err))
{
	struct inis_error err = INIS_ERROR_INIT;

	command_free(&o->command);
	if (language_command(&o->command, words, more, &err) < 0) {
		fail(o, &err);
		return;
	}
	o->command.call_env = o->env;
	capture_free(&o->capture);
	o->capture = (struct capture){.rq = o->rq,
				      .session = o->session,
				      .command = &o->command,
				      .timeout_ms = o->timeout_ms,
				      .cap = ENCODE_CAP,
				      .kind = AUDIT_ONE_SHOT,
				      .done = done};
	capture_start(&o->capture);
}

static void on_run(struct capture *c, const struct inis_exited *e, const struct inis_error *err)
{
	struct one_shot *o = (struct one_shot *)c;

	if (err) {
		fail(o, err);
		return;
	}
	put_result(o, e, "run");
	finish(o);
}

static void on_installed(struct capture *c, const struct inis_exited *e, const struct inis_error *err)
{
	struct one_shot *o = (struct one_shot *)c;

	if (err) {
		fail(o, err);
		return;
	}
	o->install_ms = (int64_t)e->duration_ms;
	if (e->exit_code != 0) {
		put_result(o, e, "install");
		finish(o);
		return;
	}
	o->timeout_ms = o->timeout_ms > o->install_ms ? o->timeout_ms - o->install_ms : 1;
	start(o, o->language->run, NULL, on_run);
}

static void on_written(void *ctx, const struct inis_error *err)
{
	struct one_shot *o = ctx;

	inis_buf_free(&o->source);
	if (err)
		fail(o, err);
	else if (o->packages)
		start(o, o->language->install, o->packages, on_installed);
	else
		start(o, o->language->run, NULL, on_run);
}

static void on_ready(struct session *s, void *ctx, const struct inis_error *unusable)
{
	struct inis_error err = INIS_ERROR_INIT;
	struct one_shot *o = ctx;

	if (unusable && s->machine.state == M_FAILED) {
		create_failure(s, &o->error);
		finish(o);
		return;
	}
	if (unusable)
		err = *unusable;
	else if (!s->agent)
		inis_fail(&err, INIS_SESSION_UNAVAILABLE, "the sandbox cannot be reached");
	if (err.code) {
		fail(o, &err);
		return;
	}
	o->restore_ms = (inis_now_us() - o->begun_us) / 1000;
	o->uses = true;
	session_use_begin(s);
	o->put = (struct file_put){.data = o->source.data, .left = o->source.len, .done = on_written, .ctx = o};
	if (file_put_start(&o->put, s->agent, o->language->file, 0, &err) < 0)
		fail(o, &err);
}

/* ---- request ---- */

static void on_gone(struct session *s, void *ctx, const struct inis_error *err)
{
	(void)s;
	(void)ctx;
	(void)err;
}

/* Whatever runs ends with the session, and that ends the request. */
static void on_left(struct http_request *rq, void *ctx)
{
	(void)rq;
	session_delete(((struct one_shot *)ctx)->session, END_CLIENT_DESTROY, on_gone, NULL);
}

static int read_packages(struct one_shot *o, struct inis_error *err)
{
	json_t *list = NULL;
	size_t i;
	json_t *item;

	if (field_array(o->body, "dependencies", LANGUAGE_PACKAGES_MAX, &list, err) < 0)
		return -1;
	json_array_foreach (list, i, item) {
		size_t n = json_string_length(item);

		if (!json_is_string(item) || n < 1 || n > PACKAGE_MAX || strlen(json_string_value(item)) != n)
			return inis_fail_field(err, "dependencies", "items must be strings of 1 to %d bytes",
					       PACKAGE_MAX);
		if (json_string_value(item)[0] == '-')
			return inis_fail_field(err, "dependencies", "items must be packages, not options");
	}
	if (json_array_size(list) == 0)
		return 0;
	o->packages = list;
	if (o->language->path_name) {
		o->env = json_pack("{s:s}", o->language->path_name, o->language->path);
		if (!o->env)
			return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	}
	return 0;
}

static int read_request(struct one_shot *o, struct inis_error *err)
{
	int language = 0;

	if (field_required(o->body, "language", err) < 0 ||
	    field_choice(o->body, "language", LANGUAGE_NAMES, &language, err) < 0 ||
	    field_required(o->body, "code", err) < 0 ||
	    field_content(o->body, "code", NULL, FILE_CONTENT_MAX, &o->source, err) < 0 ||
	    command_timeout(o->body, &o->timeout_ms, err) < 0)
		return -1;
	o->language = &LANGUAGES[language];
	return read_packages(o, err);
}

/* Of the members of a create only these count. */
static int read_session(const json_t *body, struct session_spec *spec, struct inis_error *err)
{
	static const char *const names[] = {"volume_id", "size", "template", "no_sudo", "command_capture"};
	json_t *members = json_object();
	int rc = members ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		json_t *value = json_object_get(body, names[i]);

		if (value)
			rc = json_object_set(members, names[i], value);
	}
	rc = rc == 0 ? create_fields(members, spec, err) : inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	json_decref(members);
	spec->one_shot = true;
	return rc;
}

static int make_session(struct one_shot *o, struct inis_error *err)
{
	struct session_create c = {0};

	if (read_session(o->body, &c.spec, err) < 0)
		return -1;
	inis_store_key_id(api_of(o->rq)->store, http_key(o->rq), c.owner);
	o->session = create_start(o->rq, &c, err);
	spec_free(&c.spec);
	if (!o->session)
		return -1;
	session_ref(o->session);
	return 0;
}

void one_shot_post(struct http_request *rq)
{
	struct inis_error err = INIS_ERROR_INIT;
	json_t *body = op_body(rq);
	struct one_shot *o = body ? calloc(1, sizeof(*o)) : NULL;

	if (!body)
		return;
	if (!o) {
		json_decref(body);
		inis_fail(&err, INIS_UNAVAILABLE, "out of memory");
		http_respond_error(rq, &err);
		return;
	}
	o->rq = rq;
	o->body = body;
	o->begun_us = inis_now_us();
	if (read_request(o, &err) < 0 || make_session(o, &err) < 0) {
		one_shot_free(o);
		http_respond_error(rq, &err);
		return;
	}
	http_set_context(rq, o, on_left);
	session_wait_ready(o->session, SESSION_WAIT_MS, on_ready, o);
}
