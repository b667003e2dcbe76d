/* SPDX-License-Identifier: Apache-2.0
 *
 * error.h - the one error object of the engine and the one table of API codes.
 *
 * A function that can fail takes `struct inis_error *err` last and returns 0 or
 * -1 (or a pointer or NULL). On success it leaves *err alone. The code is set at
 * the place that knows what went wrong; the HTTP status comes from the table
 * here and nowhere else. err may be NULL where the caller does not care.
 */
#ifndef INIS_BASE_ERROR_H
#define INIS_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* Wire values: they travel between agent, broker and daemon. Append only. */
enum inis_code {
	INIS_OK = 0,
	INIS_BAD_REQUEST,
	INIS_PAYLOAD_TOO_LARGE,
	INIS_UNAUTHENTICATED,
	INIS_FORBIDDEN,
	INIS_NOT_FOUND,
	INIS_METHOD_NOT_ALLOWED,
	INIS_CONFLICT,
	INIS_IDEMPOTENCY_KEY_IN_PROGRESS,
	INIS_SESSION_NOT_LIVE,
	INIS_SESSION_ENDED,
	INIS_SESSION_NODE_LOST,
	INIS_RATE_LIMITED,
	INIS_INTERNAL,
	INIS_NOT_IMPLEMENTED,
	INIS_BAD_GATEWAY,
	INIS_UNAVAILABLE,
	INIS_SESSION_UNAVAILABLE,
	INIS_TEMPLATE_VERSION_UNAVAILABLE,
	INIS_SIZE_UNAVAILABLE,
	/* File operations (openapi: FileError). */
	INIS_INVALID_PATH,
	INIS_IS_DIRECTORY,
	INIS_PERMISSION_DENIED,
	INIS_CODE_COUNT
};

struct inis_error {
	enum inis_code code;
	int sys_errno; /* 0 when no system call was the cause */
	char field[64]; /* request field at fault, "" when none */
	char message[320]; /* for people; one line, UTF-8, no secrets */
};

#define INIS_ERROR_INIT         \
	{                       \
		.code = INIS_OK \
	}

/* The stable machine code of the API, e.g. "bad_request". Never NULL. */
const char *inis_code_name(enum inis_code code);

/* HTTP status of a code; 500 for one out of range. */
int inis_code_http_status(enum inis_code code);

/* Whether a client may try the same request again later. */
bool inis_code_retryable(enum inis_code code);

/* Clamps a number from a foreign process to a known code. */
enum inis_code inis_code_from_wire(uint32_t value);

/* Sets *err and returns -1, so that `return inis_fail(err, …)` reads well. */
int inis_fail(struct inis_error *err, enum inis_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As inis_fail; names the request field that is wrong in message and field. */
int inis_fail_field(struct inis_error *err, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * As inis_fail with the current errno: the code is derived from it (ENOENT not_found,
 * ENOSPC/EDQUOT/ENOMEM/EMFILE… unavailable, else internal) and its text is appended.
 */
int inis_fail_errno(struct inis_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Copies *src into *dst (either may be NULL) and returns -1. */
int inis_fail_copy(struct inis_error *dst, const struct inis_error *src);

#endif
