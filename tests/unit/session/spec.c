/* SPDX-License-Identifier: Apache-2.0
 *
 * spec.c - session descriptions survive the store unchanged, and secrets are not among them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/spec.h"

static void fill(struct session_spec *s)
{
	spec_init(s);
	s->name = strdup("build box");
	s->external_id = strdup("order/17");
	s->template_name = strdup("host");
	s->labels = json_pack("{s:s}", "team", "blue");
	s->env = json_pack("{s:s}", "LANG", "C.UTF-8");
	s->secrets = json_pack("{s:s}", "TOKEN", "hunter2");
	s->egress = json_pack("{s:s}", "mode", "deny");
	s->size = SIZE_LARGE;
	s->idle_mode = IDLE_ACTIVITY;
	s->on_pty_detach = DETACH_DESTROY;
	s->command_capture = CAPTURE_FULL;
	s->idle_timeout_ms = 31000;
	s->idle_cpu_pct = 5;
	s->idle_net_bytes = 4096;
	s->max_lifetime_ms = 3153600000000LL;
	s->paused_ttl_ms = -1;
	s->no_sudo = true;
	s->wake_on_http = false;
	s->destroy_on_completion = true;
}

static void S9_every_member_survives_the_store(void **state)
{
	struct session_spec a, b;
	char *secrets;
	json_t *doc, *again;

	(void)state;
	fill(&a);
	doc = spec_to_json(&a);
	secrets = spec_secrets_text(&a);
	assert_int_equal(spec_from_json(&b, doc, secrets, NULL), 0);
	again = spec_to_json(&b);
	assert_true(json_equal(doc, again));
	assert_true(json_equal(a.secrets, b.secrets));
	assert_string_equal(b.name, "build box");
	assert_int_equal(b.paused_ttl_ms, -1);
	assert_int_equal(b.max_lifetime_ms, 3153600000000LL);
	json_decref(doc);
	json_decref(again);
	free(secrets);
	spec_free(&a);
	spec_free(&b);
}

static void L15_the_document_holds_no_secret(void **state)
{
	struct session_spec a;
	json_t *doc;
	char *text;

	(void)state;
	fill(&a);
	doc = spec_to_json(&a);
	text = json_dumps(doc, 0);
	assert_null(strstr(text, "hunter2"));
	assert_null(strstr(text, "TOKEN"));
	free(text);
	json_decref(doc);
	spec_free(&a);
}

static void a_damaged_document_gives_defaults_and_no_harm(void **state)
{
	struct session_spec s;
	json_t *doc = json_pack("{s:i, s:s, s:i, s:[], s:n}", "size", 77, "idle_mode", "x", "on_pty_detach", -1, "env",
				"name");

	(void)state;
	assert_int_equal(spec_from_json(&s, doc, "not json", NULL), 0);
	assert_int_equal(s.size, SIZE_SMALL);
	assert_int_equal(s.on_pty_detach, DETACH_PAUSE);
	assert_null(s.env);
	assert_null(s.secrets);
	json_decref(doc);
	spec_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(S9_every_member_survives_the_store),
		cmocka_unit_test(L15_the_document_holds_no_secret),
		cmocka_unit_test(a_damaged_document_gives_defaults_and_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
