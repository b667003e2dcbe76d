/* SPDX-License-Identifier: Apache-2.0
 *
 * broker_proto.c - the broker takes nothing that is off by one field.
 */
#include "wire/broker_proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char SESSION[] = "abcdefghij0123456789x";
static const char UNIT[] = "abcdef0123456789";

static struct inis_broker_msg create_message(void)
{
	struct inis_broker_msg m;

	inis_broker_msg_init(&m, INIS_B_CREATE, 7);
	memcpy(m.u.create.session.s, SESSION, sizeof(SESSION));
	m.u.create.vcpus = 1;
	m.u.create.mem_mb = 512;
	m.u.create.pids_max = 100;
	m.u.create.disk_mb = 1024;
	return m;
}

static int check(const struct inis_broker_msg *m)
{
	struct inis_broker_msg out;

	return inis_broker_msg_check(m, sizeof(*m), &out, NULL);
}

static void sound_messages_pass(void **state)
{
	struct inis_broker_msg m = create_message();

	(void)state;
	assert_int_equal(check(&m), 0);
	inis_broker_msg_init(&m, INIS_B_HELLO, 1);
	assert_int_equal(check(&m), 0);
	inis_broker_msg_init(&m, INIS_B_DESTROY, 2);
	memcpy(m.unit_id.s, UNIT, sizeof(UNIT));
	assert_int_equal(check(&m), 0);
	inis_broker_msg_init(&m, INIS_B_EVENT_EXITED, 0);
	memcpy(m.unit_id.s, UNIT, sizeof(UNIT));
	assert_int_equal(check(&m), 0);
}

static void any_other_size_is_refused(void **state)
{
	struct inis_broker_msg m = create_message(), out;

	(void)state;
	for (size_t n = 0; n < sizeof(m); n++)
		assert_int_equal(inis_broker_msg_check(&m, n, &out, NULL), -1);
}

#define REFUSED(change_)                                     \
	do {                                                 \
		struct inis_broker_msg m = create_message(); \
		change_;                                     \
		assert_int_equal(check(&m), -1);             \
	} while (0)

static void one_wrong_field_is_enough(void **state)
{
	(void)state;
	REFUSED(m.magic++);
	REFUSED(m.verb = 0);
	REFUSED(m.verb = INIS_B_TEMPLATES + 1);
	REFUSED(m.verb = UINT16_MAX);
	REFUSED(m.flags = 0x8);
	REFUSED(m.request = 0);
	REFUSED(memset(m.message, 'x', sizeof(m.message)));
	REFUSED(memset(m.unit_id.s, 'x', sizeof(m.unit_id.s)));
	REFUSED(memcpy(m.unit_id.s, "../etc", 7));
	REFUSED(m.u.create.session.s[0] = '/');
	REFUSED(m.u.create.session.s[20] = 0);
	REFUSED(memset(m.u.create.template_name, 't', sizeof(m.u.create.template_name)));
	REFUSED(memset(m.u.create.hostname, 'h', sizeof(m.u.create.hostname)));
	REFUSED(m.u.create.flags = 2);
	REFUSED(m.u.create.vcpus = 0);
	REFUSED(m.u.create.mem_mb = 0);
	REFUSED(m.u.create.pids_max = 0);
	REFUSED(m.u.create.disk_mb = 0);
}

static int check_template(void (*change)(struct inis_broker_template *t))
{
	struct inis_broker_msg m;

	inis_broker_msg_init(&m, INIS_B_TEMPLATES, 7);
	m.flags = INIS_B_REPLY | INIS_B_MORE;
	strcpy(m.u.template.name, "debian");
	strcpy(m.u.template.version, "2026.11.29-0a1b2c3d");
	memset(m.u.template.content, 'a', 64);
	if (change)
		change(&m.u.template);
	return check(&m);
}

static void nameless(struct inis_broker_template *t)
{
	t->name[0] = '\0';
}

static void endless(struct inis_broker_template *t)
{
	memset(t->version, '1', sizeof(t->version));
}

static void not_text(struct inis_broker_template *t)
{
	strcpy(t->suite, "book\xffworm");
}

static void no_digest(struct inis_broker_template *t)
{
	t->content[3] = 'g';
}

static void a_template_has_only_texts_that_can_be_shown(void **state)
{
	struct inis_broker_msg m;

	(void)state;
	assert_int_equal(check_template(NULL), 0);
	assert_int_equal(check_template(nameless), -1);
	assert_int_equal(check_template(endless), -1);
	assert_int_equal(check_template(not_text), -1);
	assert_int_equal(check_template(no_digest), -1);
	inis_broker_msg_init(&m, INIS_B_EVENT_TEMPLATES, 0);
	assert_int_equal(check(&m), 0);
	m.request = 1;
	assert_int_equal(check(&m), -1);
}

static void verbs_about_a_unit_need_its_id(void **state)
{
	static const enum inis_broker_verb verbs[] = {INIS_B_CONNECT, INIS_B_DESTROY, INIS_B_FREEZE, INIS_B_THAW,
						      INIS_B_STATS};
	struct inis_broker_msg m;

	(void)state;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		inis_broker_msg_init(&m, verbs[i], 1);
		assert_int_equal(check(&m), -1);
		memcpy(m.unit_id.s, UNIT, sizeof(UNIT));
		assert_int_equal(check(&m), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_messages_pass),
		cmocka_unit_test(any_other_size_is_refused),
		cmocka_unit_test(one_wrong_field_is_enough),
		cmocka_unit_test(a_template_has_only_texts_that_can_be_shown),
		cmocka_unit_test(verbs_about_a_unit_need_its_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
