/* SPDX-License-Identifier: Apache-2.0
 *
 * broker_proto.c - what the check lets through has sound ids and terminated texts.
 */
#include "wire/broker_proto.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inis_broker_msg m;
	struct session_id session;
	struct unit_id unit;

	if (inis_broker_msg_check(data, size, &m, NULL) < 0)
		return 0;
	must(strnlen(m.message, sizeof(m.message)) < sizeof(m.message));
	if (m.unit_id.s[0])
		must(unit_id_parse(m.unit_id.s, &unit));
	if (m.verb == INIS_B_CREATE && !(m.flags & INIS_B_REPLY)) {
		must(session_id_parse(m.u.create.session.s, &session));
		must(strnlen(m.u.create.template_name, sizeof(m.u.create.template_name)) <
		     sizeof(m.u.create.template_name));
		must(strnlen(m.u.create.hostname, sizeof(m.u.create.hostname)) < sizeof(m.u.create.hostname));
	}
	return 0;
}

/* Keeps the size and mostly the magic right; else nearly every input ends at the first check. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct inis_broker_msg m;

	if (max < sizeof(m) || seed % 64 == 0)
		return LLVMFuzzerMutate(data, size, max);
	if (size < sizeof(m))
		memset(data + size, 0, sizeof(m) - size);
	LLVMFuzzerMutate(data, sizeof(m), sizeof(m));
	memcpy(&m, data, sizeof(m));
	m.magic = INIS_BROKER_MAGIC;
	memcpy(data, &m, sizeof(m));
	return sizeof(m);
}
