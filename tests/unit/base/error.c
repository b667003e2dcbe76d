/* SPDX-License-Identifier: Apache-2.0
 *
 * error.c - every code has a name and a status, and errors say what happened.
 */
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_code_has_its_own_name_and_a_status(void **state)
{
	(void)state;
	for (int code = INIS_OK; code < INIS_CODE_COUNT; code++) {
		int status = inis_code_http_status((enum inis_code)code);

		assert_non_null(inis_code_name((enum inis_code)code));
		assert_true(code == INIS_OK ? status == 200 : status >= 400 && status <= 599);
		for (int other = code + 1; other < INIS_CODE_COUNT; other++)
			assert_string_not_equal(inis_code_name((enum inis_code)code),
						inis_code_name((enum inis_code)other));
	}
}

static void too_large_is_400_and_gone_is_410(void **state)
{
	(void)state;
	assert_int_equal(inis_code_http_status(INIS_PAYLOAD_TOO_LARGE), 400);
	assert_int_equal(inis_code_http_status(INIS_NOT_IMPLEMENTED), 501);
	assert_int_equal(inis_code_http_status(INIS_SESSION_ENDED), 410);
	assert_true(inis_code_retryable(INIS_UNAVAILABLE));
	assert_false(inis_code_retryable(INIS_SIZE_UNAVAILABLE));
}

static void foreign_numbers_become_internal(void **state)
{
	(void)state;
	assert_int_equal(inis_code_from_wire(INIS_NOT_FOUND), INIS_NOT_FOUND);
	assert_int_equal(inis_code_from_wire(INIS_CODE_COUNT), INIS_INTERNAL);
	assert_int_equal(inis_code_from_wire(UINT32_MAX), INIS_INTERNAL);
	assert_int_equal(inis_code_http_status((enum inis_code)9999), 500);
}

static void a_field_is_named_in_the_text_and_apart(void **state)
{
	struct inis_error err = INIS_ERROR_INIT;

	(void)state;
	assert_int_equal(inis_fail_field(&err, "timeout_ms", "must be %d", 1), -1);
	assert_int_equal(err.code, INIS_BAD_REQUEST);
	assert_string_equal(err.field, "timeout_ms");
	assert_non_null(strstr(err.message, "timeout_ms"));
	assert_non_null(strstr(err.message, "must be 1"));
}

static void errno_decides_the_code_and_is_kept(void **state)
{
	static const struct {
		int sys_errno;
		enum inis_code code;
	} rows[] = {{ENOENT, INIS_NOT_FOUND},
		    {ENOSPC, INIS_UNAVAILABLE},
		    {ENOMEM, INIS_UNAVAILABLE},
		    {EMFILE, INIS_UNAVAILABLE},
		    {EBADF, INIS_INTERNAL}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct inis_error err = INIS_ERROR_INIT;

		errno = rows[i].sys_errno;
		assert_int_equal(inis_fail_errno(&err, "open %s", "x"), -1);
		assert_int_equal(errno, rows[i].sys_errno);
		assert_int_equal(err.sys_errno, rows[i].sys_errno);
		assert_int_equal(err.code, rows[i].code);
		assert_non_null(strstr(err.message, strerror(rows[i].sys_errno)));
	}
}

static void long_texts_are_cut_and_nobody_needs_to_listen(void **state)
{
	struct inis_error err = INIS_ERROR_INIT;
	char text[1000];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	inis_fail(&err, INIS_INTERNAL, "%s", text);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	inis_fail_field(&err, text, "%s", text);
	assert_true(strlen(err.field) < sizeof(err.field));
	assert_int_equal(inis_fail(NULL, INIS_INTERNAL, "%s", text), -1);
	assert_int_equal(inis_fail_errno(NULL, "%s", text), -1);
	assert_int_equal(inis_fail_copy(NULL, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_has_its_own_name_and_a_status),
		cmocka_unit_test(too_large_is_400_and_gone_is_410),
		cmocka_unit_test(foreign_numbers_become_internal),
		cmocka_unit_test(a_field_is_named_in_the_text_and_apart),
		cmocka_unit_test(errno_decides_the_code_and_is_kept),
		cmocka_unit_test(long_texts_are_cut_and_nobody_needs_to_listen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
