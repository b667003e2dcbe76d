/* SPDX-License-Identifier: Apache-2.0
 *
 * error.c - error object and the table of API codes.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct code_row {
	const char *name;
	int http_status;
	bool retryable;
};

static const struct code_row CODES[INIS_CODE_COUNT] = {
	[INIS_OK] = {"ok", 200, false},
	[INIS_BAD_REQUEST] = {"bad_request", 400, false},
	[INIS_PAYLOAD_TOO_LARGE] = {"payload_too_large", 400, false},
	[INIS_UNAUTHENTICATED] = {"unauthenticated", 401, false},
	[INIS_FORBIDDEN] = {"forbidden", 403, false},
	[INIS_NOT_FOUND] = {"not_found", 404, false},
	[INIS_METHOD_NOT_ALLOWED] = {"method_not_allowed", 405, false},
	[INIS_CONFLICT] = {"conflict", 409, false},
	[INIS_IDEMPOTENCY_KEY_IN_PROGRESS] = {"idempotency_key_in_progress", 409, true},
	[INIS_SESSION_NOT_LIVE] = {"session_not_live", 409, true},
	[INIS_SESSION_ENDED] = {"session_ended", 410, false},
	[INIS_SESSION_NODE_LOST] = {"session_node_lost", 410, false},
	[INIS_RATE_LIMITED] = {"rate_limited", 429, true},
	[INIS_INTERNAL] = {"internal", 500, false},
	[INIS_NOT_IMPLEMENTED] = {"not_implemented", 501, false},
	[INIS_BAD_GATEWAY] = {"bad_gateway", 502, true},
	[INIS_UNAVAILABLE] = {"unavailable", 503, true},
	[INIS_SESSION_UNAVAILABLE] = {"session_unavailable", 503, true},
	[INIS_TEMPLATE_VERSION_UNAVAILABLE] = {"template_version_unavailable", 503, true},
	[INIS_SIZE_UNAVAILABLE] = {"size_unavailable", 503, false},
	[INIS_INVALID_PATH] = {"invalid_path", 400, false},
	[INIS_IS_DIRECTORY] = {"is_directory", 400, false},
	[INIS_PERMISSION_DENIED] = {"permission_denied", 400, false},
};

static const struct code_row *row(enum inis_code code)
{
	if ((unsigned)code >= INIS_CODE_COUNT)
		code = INIS_INTERNAL;
	return &CODES[code];
}

const char *inis_code_name(enum inis_code code)
{
	return row(code)->name;
}

int inis_code_http_status(enum inis_code code)
{
	return row(code)->http_status;
}

bool inis_code_retryable(enum inis_code code)
{
	return row(code)->retryable;
}

enum inis_code inis_code_from_wire(uint32_t value)
{
	return value > INIS_OK && value < INIS_CODE_COUNT ? (enum inis_code)value : INIS_INTERNAL;
}

static void set(struct inis_error *err, enum inis_code code, int sys_errno)
{
	err->code = code;
	err->sys_errno = sys_errno;
	err->field[0] = '\0';
	err->message[0] = '\0';
}

int inis_fail(struct inis_error *err, enum inis_code code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	set(err, code, 0);
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	return -1;
}

int inis_fail_field(struct inis_error *err, const char *field, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!err)
		return -1;
	set(err, INIS_BAD_REQUEST, 0);
	snprintf(err->field, sizeof(err->field), "%s", field);
	n = snprintf(err->message, sizeof(err->message), "field `%s`: ", err->field);
	if (n < 0 || (size_t)n >= sizeof(err->message))
		return -1;
	va_start(ap, fmt);
	vsnprintf(err->message + n, sizeof(err->message) - (size_t)n, fmt, ap);
	va_end(ap);
	return -1;
}

static enum inis_code code_from_errno(int e)
{
	switch (e) {
	case ENOENT:
	case ENOTDIR:
		return INIS_NOT_FOUND;
	case ENOSPC:
	case EDQUOT:
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case EAGAIN:
		return INIS_UNAVAILABLE;
	default:
		return INIS_INTERNAL;
	}
}

int inis_fail_errno(struct inis_error *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	int n;

	if (!err)
		return -1;
	set(err, code_from_errno(saved), saved);
	va_start(ap, fmt);
	n = vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->message))
		snprintf(err->message + n, sizeof(err->message) - (size_t)n, ": %s", strerror(saved));
	errno = saved;
	return -1;
}

int inis_fail_copy(struct inis_error *dst, const struct inis_error *src)
{
	if (dst && src && dst != src)
		*dst = *src;
	return -1;
}
