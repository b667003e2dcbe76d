/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c - rows of the unit table.
 */
#include "driver/container/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/path.h"
#include "template/manifest.h"
#include "wire/broker_proto.h"

static const char *const FILE_NAMES[] = {
	[RECORD_IN_USE] = "unit", [RECORD_ENDING] = "ending", [RECORD_EMPTIED] = "emptied"};

void record_init(struct record *r)
{
	memset(r, 0, sizeof(*r));
	r->magic = RECORD_MAGIC;
	r->version = RECORD_VERSION;
	r->loop = -1;
}

static bool terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool valid_session(const struct session_id *id)
{
	struct session_id parsed;

	return terminated(id->s, sizeof(id->s)) && (id->s[0] == '\0' || session_id_parse(id->s, &parsed));
}

static bool valid_base(const char *base)
{
	static const char host[] = "host/";
	const char *tag = base + strlen(host);

	if (strncmp(base, host, strlen(host)) != 0)
		return inis_template_is_dir_name(base);
	return strspn(tag, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(tag) && tag[0] != '\0';
}

int record_check(const void *data, size_t n, const struct unit_id *id, struct record *out, struct inis_error *err)
{
	if (n != sizeof(*out))
		return inis_fail(err, INIS_INTERNAL, "unit record of %zu bytes", n);
	memcpy(out, data, n);
	if (out->magic != RECORD_MAGIC || out->version != RECORD_VERSION)
		return inis_fail(err, INIS_INTERNAL, "unit record of another version");
	if (!terminated(out->id.s, sizeof(out->id.s)) || strcmp(out->id.s, id->s) != 0)
		return inis_fail(err, INIS_INTERNAL, "unit record of another unit");
	if (!valid_session(&out->session) || !terminated(out->boot_id, sizeof(out->boot_id)) ||
	    !terminated(out->base, sizeof(out->base)) || !valid_base(out->base) || out->pid <= 1 ||
	    (out->disk_kind != INIS_DISK_HARD && out->disk_kind != INIS_DISK_SOFT) || out->loop < -1)
		return inis_fail(err, INIS_INTERNAL, "unit record with a bad field");
	return 0;
}

int record_write(int unit_dir, const struct record *r, struct inis_error *err)
{
	cleanup_close int fd =
		openat(unit_dir, FILE_NAMES[RECORD_IN_USE], O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || pwrite(fd, r, sizeof(*r), 0) != sizeof(*r))
		return inis_fail_errno(err, "write the record of a unit");
	return 0;
}

int record_read(int unit_dir, const struct unit_id *id, struct record *out, enum record_stage *stage,
		struct inis_error *err)
{
	char buf[sizeof(*out) + 2];

	for (*stage = RECORD_IN_USE; *stage <= RECORD_EMPTIED; (*stage)++) {
		ssize_t n = inis_read_at(unit_dir, FILE_NAMES[*stage], buf, sizeof(buf), NULL);

		if (n >= 0)
			return record_check(buf, (size_t)n, id, out, err);
	}
	return inis_fail(err, INIS_INTERNAL, "unit without a record");
}

void record_advance(int unit_dir, enum record_stage to)
{
	renameat(unit_dir, FILE_NAMES[to - 1], unit_dir, FILE_NAMES[to]);
}
