/* SPDX-License-Identifier: Apache-2.0
 *
 * spool_proto.c - what an agent left: a name that is taken for one is that name again when it is put; a record that is
 * believed makes sense and survives being put again.
 */
#include "wire/spool_proto.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void try_name(const uint8_t *data, size_t size)
{
	struct inis_spool_name n;
	char text[256];
	char again[INIS_SPOOL_NAME_SIZE];

	if (size >= sizeof(text))
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!inis_spool_name_parse(text, &n))
		return;
	must(proc_name_valid(n.process));
	inis_spool_name_put(&n, again);
	must(strcmp(again, text) == 0);
}

static void try_record(const uint8_t *data, size_t size)
{
	uint8_t slot[INIS_SPOOL_RECORD] = {0};
	struct inis_proc_info m, back;
	uint64_t serial, serial_back;

	memcpy(slot, data, size < sizeof(slot) ? size : sizeof(slot));
	if (!inis_spool_record_get(slot, &serial, &m))
		return;
	must(m.argc > 0 && m.started_wall_ms <= INT64_MAX);
	must(m.running || (m.exit.exit_code >= 0 && m.exit.exit_code <= 255 && m.exit.out_total <= INT64_MAX));
	inis_spool_record_put(slot, serial, &m);
	must(inis_spool_record_get(slot, &serial_back, &back));
	must(serial_back == serial && back.argc == m.argc && back.pid == m.pid);
	inis_proc_info_free(&back);
	inis_proc_info_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_name(data, size);
	try_record(data, size);
	return 0;
}
