/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_proto.c - the messages of the agent protocol; the first byte picks which. What decodes, encodes
 * to the same bytes again.
 */
#include "wire/agent_proto.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(struct inis_buf *again, const uint8_t *data, size_t size)
{
	if (inis_buf_failed(again) || again->len != size || (size > 0 && memcmp(again->data, data, size) != 0))
		abort();
}

static void exec(struct inis_buf *again, const uint8_t *data, size_t size)
{
	struct inis_exec m;

	if (inis_exec_unpack(data, size, &m) < 0)
		return;
	inis_exec_pack(again, &m);
	same(again, data, size);
	inis_exec_free(&m);
}

static void pty(struct inis_buf *again, const uint8_t *data, size_t size)
{
	struct inis_pty m;

	if (inis_pty_unpack(data, size, &m) < 0)
		return;
	inis_pty_pack(again, &m);
	same(again, data, size);
	inis_exec_free(&m.exec);
}

static void attach(struct inis_buf *again, const uint8_t *data, size_t size)
{
	struct inis_attach m;

	if (inis_attach_unpack(data, size, &m) < 0)
		return;
	inis_attach_pack(again, &m);
	same(again, data, size);
	inis_exec_free(&m.pty.exec);
}

static void pty_entry(struct inis_buf *again, const uint8_t *data, size_t size)
{
	struct inis_pty_entry m;

	if (inis_pty_entry_unpack(data, size, &m) < 0)
		return;
	inis_pty_entry_pack(again, &m);
	same(again, data, size);
	inis_pty_entry_free(&m);
}

static void proc_info(struct inis_buf *again, const uint8_t *data, size_t size)
{
	struct inis_proc_info m;

	if (inis_proc_info_unpack(data, size, &m) < 0)
		return;
	inis_proc_info_pack(again, &m);
	same(again, data, size);
	inis_proc_info_free(&m);
}

static void reconnect(struct inis_buf *again, const uint8_t *data, size_t size)
{
	static struct inis_reconnect m[INIS_RECONNECT_MAX];
	int count = inis_reconnect_unpack(data, size, m, INIS_RECONNECT_MAX);

	if (count < 0)
		return;
	inis_reconnect_pack(again, m, (uint32_t)count);
	same(again, data, size);
}

static void exited(struct inis_buf *again, const uint8_t *data, size_t size)
{
	struct inis_exited m;

	if (inis_exited_unpack(data, size, &m) < 0)
		return;
	inis_exited_pack(again, &m);
	inis_usage_pack(again, &m);
	same(again, data, size);
}

static void error(struct inis_buf *again, const uint8_t *data, size_t size)
{
	struct inis_error m;

	(void)again;
	if (inis_wire_error_unpack(data, size, &m) < 0)
		return;
	if (m.code >= INIS_CODE_COUNT || strlen(m.field) >= sizeof(m.field) || strlen(m.message) >= sizeof(m.message))
		abort();
}

#define SIMPLE(name_)                                                               \
	static void name_(struct inis_buf *again, const uint8_t *data, size_t size) \
	{                                                                           \
		struct inis_##name_ m;                                              \
                                                                                    \
		if (inis_##name_##_unpack(data, size, &m) < 0)                      \
			return;                                                     \
		inis_##name_##_pack(again, &m);                                     \
		same(again, data, size);                                            \
	}

SIMPLE(hello)
SIMPLE(logs)
SIMPLE(file_write)
SIMPLE(file_info)
SIMPLE(pty_info)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const decoders[])(struct inis_buf *, const uint8_t *, size_t) = {
		exec,       proc_info, reconnect, error,  hello,    exited,    logs,
		file_write, file_info, pty,       attach, pty_info, pty_entry,
	};
	struct inis_buf again = INIS_BUF_INIT(0);

	if (size == 0)
		return 0;
	decoders[data[0] % (sizeof(decoders) / sizeof(decoders[0]))](&again, data + 1, size - 1);
	inis_buf_free(&again);
	return 0;
}
