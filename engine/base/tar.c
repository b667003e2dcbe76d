/* SPDX-License-Identifier: Apache-2.0
 *
 * tar.c - POSIX (pax) tar archives.
 */
#include "base/tar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EXTENDED_MAX ((size_t)64 * 1024)
#define OCTAL_MAX    077777777777ULL /* of an 11-digit field */
#define NS_DIGITS    9
#define SECONDS_MAX  (INT64_MAX / 1000)

struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, target[100], magic[6],
		version[2], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct header) == TAR_BLOCK, "a header is one block");

/* ---- writing ---- */

static void put_octal(char *field, size_t size, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%0*" PRIo64, (int)size - 1, value);
	memcpy(field, text, size);
}

static uint64_t checksum(const struct header *h)
{
	const uint8_t *bytes = (const uint8_t *)h;
	const size_t from = offsetof(struct header, checksum);
	uint64_t sum = 0;

	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= from && i < from + sizeof(h->checksum) ? ' ' : bytes[i];
	return sum;
}

static void put_header(struct inis_buf *out, const char *name, char type, const struct tar_entry *e, uint64_t size)
{
	struct header h = {.type = type, .magic = "ustar", .version = {'0', '0'}};
	size_t target = e->target ? strlen(e->target) : 0;
	size_t n = strlen(name);

	memcpy(h.name, name, n < sizeof(h.name) ? n : sizeof(h.name));
	memcpy(h.target, e->target ? e->target : "", target < sizeof(h.target) ? target : sizeof(h.target));
	put_octal(h.mode, sizeof(h.mode), e->mode & 07777);
	put_octal(h.uid, sizeof(h.uid), 0);
	put_octal(h.gid, sizeof(h.gid), 0);
	put_octal(h.size, sizeof(h.size), size <= OCTAL_MAX ? size : 0);
	put_octal(h.mtime, sizeof(h.mtime),
		  e->mtime_s >= 0 && (uint64_t)e->mtime_s <= OCTAL_MAX ? (uint64_t)e->mtime_s : 0);
	put_octal(h.checksum, sizeof(h.checksum) - 1, checksum(&h));
	h.checksum[sizeof(h.checksum) - 1] = ' ';
	inis_buf_append(out, &h, sizeof(h));
}

/* "LENGTH KEY=VALUE\n", where LENGTH counts its own digits. */
static void put_record(struct inis_buf *out, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3;
	size_t length = rest + 1;
	char digits[24];

	while (rest + (size_t)snprintf(digits, sizeof(digits), "%zu", length) != length)
		length = rest + strlen(digits);
	inis_buf_printf(out, "%zu %s=", length, key);
	inis_buf_puts(out, value);
	inis_buf_append(out, "\n", 1);
}

static void put_time(struct inis_buf *out, const struct tar_entry *e)
{
	bool back = e->mtime_s < 0 && e->mtime_ns > 0;
	int64_t seconds = back ? e->mtime_s + 1 : e->mtime_s;
	uint32_t fraction = back ? 1000000000 - e->mtime_ns : e->mtime_ns;
	char text[48];

	snprintf(text, sizeof(text), "%s%" PRId64 ".%09u", back && seconds == 0 ? "-" : "", seconds, fraction);
	put_record(out, "mtime", text);
}

static void put_extended(struct inis_buf *out, const struct tar_entry *e)
{
	cleanup_buf struct inis_buf records = INIS_BUF_INIT(0);
	char size[24];

	if (strlen(e->path) > sizeof(((struct header *)0)->name) - 1)
		put_record(&records, "path", e->path);
	if (e->target && strlen(e->target) > sizeof(((struct header *)0)->target))
		put_record(&records, "linkpath", e->target);
	snprintf(size, sizeof(size), "%" PRIu64, e->size);
	if (e->size > OCTAL_MAX)
		put_record(&records, "size", size);
	if (e->mtime_ns || e->mtime_s < 0 || (uint64_t)e->mtime_s > OCTAL_MAX)
		put_time(&records, e);
	if (records.len == 0 && !records.failed)
		return;
	put_header(out, "pax", 'x', &(struct tar_entry){.mode = 0644}, records.len);
	inis_buf_append(out, records.data, records.len);
	tar_put_padding(out, records.len);
	out->failed |= records.failed;
}

void tar_put_entry(struct inis_buf *out, const struct tar_entry *e)
{
	static const char types[] = {[TAR_FILE] = '0', [TAR_DIR] = '5', [TAR_LINK] = '2'};
	char name[TAR_PATH_MAX + 1];

	snprintf(name, sizeof(name), "%s%s", e->path, e->type == TAR_DIR ? "/" : "");
	put_extended(out, e);
	put_header(out, name, types[e->type], e, e->size);
}

void tar_put_padding(struct inis_buf *out, uint64_t size)
{
	static const uint8_t zeros[TAR_BLOCK];

	inis_buf_append(out, zeros, (size_t)(-size % TAR_BLOCK));
}

void tar_put_end(struct inis_buf *out)
{
	static const uint8_t zeros[2 * TAR_BLOCK];

	inis_buf_append(out, zeros, sizeof(zeros));
}

/* ---- reading ---- */

enum state { HEADER, EXTENDED, CONTENT, PADDING, END };

static int broken(struct inis_error *err, const char *what)
{
	return inis_fail(err, INIS_BAD_REQUEST, "this is no tar archive that can be read: %s", what);
}

void tar_reader_init(struct tar_reader *r, const struct tar_handler *handler, void *ctx)
{
	*r = (struct tar_reader){.handler = handler, .ctx = ctx, .extended = INIS_BUF_INIT(EXTENDED_MAX)};
}

void tar_reader_free(struct tar_reader *r)
{
	inis_buf_free(&r->extended);
}

bool tar_read_all(const struct tar_reader *r)
{
	return r->state == END;
}

/* Digits between optional blanks, up to a NUL or the field's end. */
static bool octal(const char *field, size_t size, uint64_t *value)
{
	size_t i = 0;

	*value = 0;
	while (i < size && field[i] == ' ')
		i++;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
		*value = *value * 8 + (uint64_t)(field[i] - '0');
	return i == size || field[i] == '\0' || field[i] == ' ';
}

static bool decimal(const char *text, uint64_t *value)
{
	*value = 0;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (*value > (UINT64_MAX - 9) / 10)
			return false;
		*value = *value * 10 + (uint64_t)(*text - '0');
	}
	return *text == '\0';
}

/* "[-]SECONDS[.FRACTION]" */
static bool point_in_time(const char *text, struct tar_entry *e)
{
	bool negative = *text == '-';
	uint64_t seconds = 0;
	uint32_t ns = 0;
	int digits = 0;

	for (text += negative; *text >= '0' && *text <= '9' && seconds < SECONDS_MAX / 10; text++)
		seconds = seconds * 10 + (uint64_t)(*text - '0');
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++, digits++)
			ns = digits < NS_DIGITS ? ns * 10 + (uint32_t)(*text - '0') : ns;
	for (; digits < NS_DIGITS; digits++)
		ns *= 10;
	e->mtime_s = negative ? -(int64_t)seconds - (ns > 0) : (int64_t)seconds;
	e->mtime_ns = negative && ns ? 1000000000 - ns : ns;
	return *text == '\0';
}

static bool take_record(struct tar_entry *e, const char *key, const char *value)
{
	if (strcmp(key, "path") == 0)
		e->path = value;
	else if (strcmp(key, "linkpath") == 0)
		e->target = value;
	else if (strcmp(key, "size") == 0)
		return decimal(value, &e->size);
	else if (strcmp(key, "mtime") == 0)
		return point_in_time(value, e);
	return true;
}

/* Splits the records in place; the entry's texts then point into them. */
static int take_extended(struct tar_reader *r, struct tar_entry *e, struct inis_error *err)
{
	char *at = (char *)r->extended.data, *end;

	if (r->extended.len == 0)
		return 0;
	end = at + r->extended.len;
	while (at < end) {
		size_t length = 0;
		char *text = at, *last, *equals;

		for (; text < end && *text >= '0' && *text <= '9' && length <= EXTENDED_MAX; text++)
			length = length * 10 + (size_t)(*text - '0');
		if (text == at || text == end || *text != ' ' || length > (size_t)(end - at) ||
		    length < (size_t)(text - at) + 3)
			return broken(err, "an extended header is malformed");
		last = at + length - 1;
		text++;
		equals = memchr(text, '=', (size_t)(last - text));
		if (*last != '\n' || !equals || memchr(text, '\0', (size_t)(last - text)))
			return broken(err, "an extended header is malformed");
		*equals = *last = '\0';
		if (!take_record(e, text, equals + 1))
			return broken(err, "a number in an extended header");
		at += length;
	}
	return 0;
}

/* A name as it stands in a header, NUL-terminated in out. */
static void short_name(char *out, size_t size, const struct header *h)
{
	int prefix = (int)strnlen(h->prefix, sizeof(h->prefix));

	snprintf(out, size, "%.*s%s%.*s", prefix, h->prefix, prefix ? "/" : "", (int)sizeof(h->name), h->name);
}

static enum tar_type type_of(char type)
{
	switch (type) {
	case '0':
	case '\0':
		return TAR_FILE;
	case '5':
		return TAR_DIR;
	case '2':
		return TAR_LINK;
	default:
		return TAR_OTHER;
	}
}

static void content_follows(struct tar_reader *r, uint64_t size, enum state state)
{
	r->left = size;
	r->padding = -size % TAR_BLOCK;
	r->state = state;
}

static int take_entry(struct tar_reader *r, const struct header *h, uint64_t size, uint64_t mode, uint64_t mtime,
		      struct inis_error *err)
{
	char name[sizeof(h->prefix) + sizeof(h->name) + 2], target[sizeof(h->target) + 1], path[TAR_PATH_MAX];
	struct tar_entry e = {.type = type_of(h->type),
			      .mode = (uint32_t)mode & 07777,
			      .size = size,
			      .mtime_s = (int64_t)mtime,
			      .path = name,
			      .target = target};
	size_t n;

	short_name(name, sizeof(name), h);
	snprintf(target, sizeof(target), "%.*s", (int)sizeof(h->target), h->target);
	if (take_extended(r, &e, err) < 0)
		return -1;
	n = strlen(e.path);
	while (n > 1 && e.path[n - 1] == '/')
		n--;
	if (n >= sizeof(path) || strlen(e.target) >= TAR_PATH_MAX)
		return broken(err, "a name is too long");
	memcpy(path, e.path, n);
	path[n] = '\0';
	e.path = path;
	size = e.size;
	if (e.type != TAR_FILE)
		e.size = 0;
	if (r->handler->entry(r->ctx, &e, err) < 0)
		return -1;
	inis_buf_reset(&r->extended);
	r->wanted = e.type == TAR_FILE;
	content_follows(r, size, CONTENT);
	return 0;
}

static int take_header(struct tar_reader *r, struct inis_error *err)
{
	static const uint8_t zeros[TAR_BLOCK];
	const struct header *h = (const struct header *)r->block;
	uint64_t sum, size, mode, mtime;

	if (memcmp(h, zeros, sizeof(zeros)) == 0) {
		r->state = ++r->zeros == 2 ? END : HEADER;
		return 0;
	}
	if (r->zeros > 0 || !octal(h->checksum, sizeof(h->checksum), &sum) || sum != checksum(h) ||
	    !octal(h->size, sizeof(h->size), &size) || !octal(h->mode, sizeof(h->mode), &mode) ||
	    !octal(h->mtime, sizeof(h->mtime), &mtime))
		return broken(err, "a header is malformed");
	if (h->type != 'x' && h->type != 'g')
		return take_entry(r, h, size, mode, mtime, err);
	/* A global header says nothing that concerns us. */
	r->wanted = h->type == 'x';
	if (size > EXTENDED_MAX)
		return broken(err, "an extended header is too long");
	content_follows(r, size, EXTENDED);
	return 0;
}

/* The content's last byte came, with padding or without. */
static int content_over(struct tar_reader *r, struct inis_error *err)
{
	bool entry = r->state == CONTENT;

	r->state = r->padding ? PADDING : HEADER;
	return entry ? r->handler->entry_end(r->ctx, err) : 0;
}

static int take_content(struct tar_reader *r, const uint8_t *data, size_t n, struct inis_error *err)
{
	if (r->wanted && r->state == EXTENDED) {
		inis_buf_append(&r->extended, data, n);
		if (inis_buf_failed(&r->extended))
			return broken(err, "extended headers are too long");
	} else if (r->wanted && r->handler->data(r->ctx, data, n, err) < 0) {
		return -1;
	}
	r->left -= n;
	return 0;
}

static size_t smaller(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

int tar_read(struct tar_reader *r, const uint8_t *data, size_t n, struct inis_error *err)
{
	while (n > 0 && r->state != END) {
		size_t piece;

		if (r->state == HEADER) {
			piece = smaller(TAR_BLOCK - r->filled, n);
			memcpy(r->block + r->filled, data, piece);
			r->filled += piece;
			if (r->filled == TAR_BLOCK) {
				r->filled = 0;
				if (take_header(r, err) < 0)
					return -1;
			}
		} else if (r->state == PADDING) {
			piece = smaller(r->padding, n);
			r->padding -= piece;
			r->state = r->padding ? PADDING : HEADER;
		} else {
			piece = smaller(r->left, n);
			if (piece > 0 && take_content(r, data, piece, err) < 0)
				return -1;
		}
		data += piece;
		n -= piece;
		if ((r->state == EXTENDED || r->state == CONTENT) && r->left == 0 && content_over(r, err) < 0)
			return -1;
	}
	return 0;
}
