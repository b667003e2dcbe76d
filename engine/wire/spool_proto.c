/* SPDX-License-Identifier: Apache-2.0
 *
 * spool_proto.c - names and records of the spool directory.
 */
#include "wire/spool_proto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define RECORD_MAGIC  0x636f7270u /* "proc" */
#define RECORD_HEADER 16 /* magic, length of the message, serial */
#define OFFSET_DIGITS 16
#define SUFFIX        (5 + OFFSET_DIGITS) /* "@out@" and the offset */
#define OFFSET_MAX    (1ULL << 53) /* what JSON numbers carry */
#define TIME_MAX      253402300799999ULL /* the end of the year 9999: later ones have no RFC 3339 form */

void inis_spool_name_put(const struct inis_spool_name *n, char out[static INIS_SPOOL_NAME_SIZE])
{
	snprintf(out, INIS_SPOOL_NAME_SIZE, "%s@%s@%016" PRIx64, n->process, n->is_err ? "err" : "out", n->start);
}

static bool parse_offset(const char *digits, uint64_t *out)
{
	*out = 0;
	if (strspn(digits, "0123456789abcdef") != OFFSET_DIGITS || digits[OFFSET_DIGITS] != '\0')
		return false;
	*out = strtoull(digits, NULL, 16);
	return *out <= OFFSET_MAX;
}

bool inis_spool_name_parse(const char *text, struct inis_spool_name *out)
{
	size_t n = strlen(text);
	const char *suffix;

	*out = (struct inis_spool_name){.is_err = false};
	if (n <= SUFFIX || n - SUFFIX > INIS_PROC_NAME_MAX)
		return false;
	suffix = text + n - SUFFIX;
	out->is_err = strncmp(suffix, "@err@", 5) == 0;
	if (!out->is_err && strncmp(suffix, "@out@", 5) != 0)
		return false;
	memcpy(out->process, text, n - SUFFIX);
	return proc_name_valid(out->process) && parse_offset(suffix + 5, &out->start);
}

/* As many of the arguments, and as much of the last one, as leave the message in its slot. */
static uint32_t cut_arguments(const struct inis_proc_info *m, struct inis_str *argv, size_t room)
{
	uint32_t n = 0;

	while (n < m->argc && room > sizeof(uint32_t)) {
		room -= sizeof(uint32_t);
		argv[n] = m->argv[n];
		if (argv[n].len > room)
			argv[n].len = room;
		room -= argv[n++].len;
	}
	return n;
}

void inis_spool_record_put(uint8_t slot[static INIS_SPOOL_RECORD], uint64_t serial, const struct inis_proc_info *m)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(INIS_SPOOL_RECORD);
	struct inis_str argv[INIS_SPOOL_RECORD / sizeof(uint32_t)];
	struct inis_proc_info cut = *m;
	size_t fixed;

	cut.argc = 0;
	inis_proc_info_pack(&b, &cut);
	fixed = b.len;
	inis_buf_reset(&b);
	cut.argv = argv;
	cut.argc = cut_arguments(m, argv, INIS_SPOOL_RECORD - RECORD_HEADER - fixed);
	inis_pack_u32(&b, RECORD_MAGIC);
	inis_pack_u32(&b, 0);
	inis_pack_u64(&b, serial);
	inis_proc_info_pack(&b, &cut);
	memset(slot, 0, INIS_SPOOL_RECORD);
	if (inis_buf_failed(&b))
		return;
	memcpy(slot, b.data, b.len);
	slot[4] = (uint8_t)(b.len - RECORD_HEADER);
	slot[5] = (uint8_t)((b.len - RECORD_HEADER) >> 8);
}

int inis_spool_record_get(const uint8_t slot[static INIS_SPOOL_RECORD], uint64_t *serial, struct inis_proc_info *m)
{
	struct inis_unpack u;
	uint32_t magic, length;

	inis_unpack_init(&u, slot, INIS_SPOOL_RECORD);
	magic = inis_unpack_u32(&u);
	length = inis_unpack_u32(&u);
	*serial = inis_unpack_u64(&u);
	if (magic != RECORD_MAGIC || length > u.left || inis_proc_info_unpack(u.at, length, m) < 0)
		return 0;
	if (inis_proc_info_sound(m))
		return 1;
	inis_proc_info_free(m);
	return 0;
}

bool inis_exited_sound(const struct inis_exited *e)
{
	if ((e->flags & INIS_EXIT_TIMED_OUT) && e->exit_code != 124)
		return false;
	return e->exit_code >= 0 && e->exit_code <= 255 && e->signal <= 64 && e->duration_ms <= INT64_MAX &&
	       e->out_total <= OFFSET_MAX && e->err_total <= OFFSET_MAX;
}

bool inis_proc_info_sound(const struct inis_proc_info *m)
{
	char name[INIS_PROC_NAME_MAX + 1];

	if (m->name.len > INIS_PROC_NAME_MAX || m->running > 1 || m->pid == 0 || m->argc == 0)
		return false;
	memcpy(name, m->name.s, m->name.len);
	name[m->name.len] = '\0';
	return proc_name_valid(name) && (m->running || inis_exited_sound(&m->exit)) && m->started_wall_ms <= TIME_MAX &&
	       m->ended_wall_ms <= TIME_MAX;
}
