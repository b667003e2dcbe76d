/* SPDX-License-Identifier: Apache-2.0
 *
 * broker_proto.c - checks of the broker protocol.
 */
#include "wire/broker_proto.h"

#include <stdbool.h>
#include <string.h>

void inis_broker_msg_init(struct inis_broker_msg *m, enum inis_broker_verb verb, uint64_t request)
{
	memset(m, 0, sizeof(*m));
	m->magic = INIS_BROKER_MAGIC;
	m->verb = (uint16_t)verb;
	m->request = request;
}

static bool terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool known_verb(uint16_t verb)
{
	return (verb >= INIS_B_HELLO && verb <= INIS_B_TEMPLATES) || verb == INIS_B_EVENT_EXITED ||
	       verb == INIS_B_EVENT_TEMPLATES;
}

static bool is_event(uint16_t verb)
{
	return verb == INIS_B_EVENT_EXITED || verb == INIS_B_EVENT_TEMPLATES;
}

static bool needs_unit(const struct inis_broker_msg *m)
{
	return m->verb == INIS_B_CONNECT || m->verb == INIS_B_DESTROY || m->verb == INIS_B_FREEZE ||
	       m->verb == INIS_B_THAW || m->verb == INIS_B_STATS || m->verb == INIS_B_EVENT_EXITED;
}

static bool valid_unit_id(const struct unit_id *id)
{
	struct unit_id parsed;

	return terminated(id->s, sizeof(id->s)) && unit_id_parse(id->s, &parsed);
}

static bool valid_session_id(const struct session_id *id)
{
	struct session_id parsed;

	return terminated(id->s, sizeof(id->s)) && session_id_parse(id->s, &parsed);
}

static const char *create_fault(const struct inis_broker_create *c)
{
	if (!valid_session_id(&c->session))
		return "session id";
	if (!terminated(c->template_name, sizeof(c->template_name)))
		return "template name";
	if (!terminated(c->hostname, sizeof(c->hostname)))
		return "host name";
	if (c->vcpus == 0 || c->mem_mb == 0 || c->pids_max == 0 || c->disk_mb == 0)
		return "limit of 0";
	if (c->flags & ~INIS_CREATE_NO_SUDO)
		return "unknown flag";
	return NULL;
}

static bool made_of(const char *text, size_t size, const char *letters)
{
	return terminated(text, size) && strspn(text, letters) == strlen(text);
}

static const char *template_fault(const struct inis_broker_template *t)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (!made_of(t->name, sizeof(t->name), name) || t->name[0] == '\0')
		return "template name";
	if (!made_of(t->version, sizeof(t->version), name) || !made_of(t->suite, sizeof(t->suite), name))
		return "template version";
	if (!made_of(t->content, sizeof(t->content), "0123456789abcdef"))
		return "template digest";
	return NULL;
}

static const char *fault(const struct inis_broker_msg *m)
{
	bool reply = m->flags & INIS_B_REPLY;

	if (m->magic != INIS_BROKER_MAGIC)
		return "magic";
	if (!known_verb(m->verb))
		return "verb";
	if (m->flags & ~(INIS_B_REPLY | INIS_B_MORE | INIS_B_HAS_FD))
		return "flags";
	if ((m->request == 0) != is_event(m->verb))
		return "request id";
	if (!terminated(m->message, sizeof(m->message)))
		return "text";
	if (m->unit_id.s[0] != '\0' ? !valid_unit_id(&m->unit_id) : needs_unit(m))
		return "unit id";
	if (m->verb == INIS_B_CREATE && !reply)
		return create_fault(&m->u.create);
	if (m->verb == INIS_B_LIST && (m->flags & INIS_B_MORE) &&
	    (!valid_unit_id(&m->u.unit.id) || !valid_session_id(&m->u.unit.session)))
		return "unit row";
	if (m->verb == INIS_B_TEMPLATES && (m->flags & INIS_B_MORE))
		return template_fault(&m->u.template);
	return NULL;
}

int inis_broker_msg_check(const void *data, size_t n, struct inis_broker_msg *out, struct inis_error *err)
{
	const char *what;

	if (n != sizeof(*out))
		return inis_fail(err, INIS_INTERNAL, "broker message of %zu bytes", n);
	memcpy(out, data, n);
	what = fault(out);
	if (what)
		return inis_fail(err, INIS_INTERNAL, "broker message with bad %s", what);
	return 0;
}
