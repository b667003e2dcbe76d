/* SPDX-License-Identifier: Apache-2.0
 *
 * sse.c - events come out the same however the bytes were cut.
 */
#include "cli/sse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int record(void *user, const char *event, const char *data, size_t length)
{
	struct inis_buf *log = user;

	inis_buf_printf(log, "%s=%.*s;", event, (int)length, data);
	return strcmp(event, "stop") == 0 ? -1 : 0;
}

static const char STREAM[] = ": ping\n\n"
			     "event: stdout\ndata: b3V0Cg==\n\n"
			     "event: stderr\r\ndata: ZXJyCg==\r\n\r\n"
			     "data: again\n\n"
			     "id: 5,6\nevent:exit\ndata:{\"exit_code\":3}\n\n"
			     "event: eof\ndata: \n\n";
static const char EXPECTED[] = "stdout=b3V0Cg==;stderr=ZXJyCg==;stderr=again;exit={\"exit_code\":3};eof=;";

static void every_cut_gives_the_same_events(void **state)
{
	(void)state;
	for (size_t cut = 1; cut <= sizeof(STREAM); cut++) {
		struct inis_buf log = INIS_BUF_INIT(0);
		struct cli_sse sse = CLI_SSE_INIT(record, &log);

		for (size_t at = 0; at < sizeof(STREAM) - 1; at += cut) {
			size_t left = sizeof(STREAM) - 1 - at;

			assert_int_equal(cli_sse_feed(&sse, STREAM + at, left < cut ? left : cut), 0);
		}
		assert_string_equal(inis_buf_cstr(&log), EXPECTED);
		cli_sse_free(&sse);
		inis_buf_free(&log);
	}
}

static void the_handler_can_stop_the_stream(void **state)
{
	static const char stream[] = "event: stop\ndata: 1\n\nevent: stdout\ndata: 2\n\n";
	struct inis_buf log = INIS_BUF_INIT(0);
	struct cli_sse sse = CLI_SSE_INIT(record, &log);

	(void)state;
	assert_int_equal(cli_sse_feed(&sse, stream, sizeof(stream) - 1), -1);
	assert_string_equal(inis_buf_cstr(&log), "stop=1;");
	cli_sse_free(&sse);
	inis_buf_free(&log);
}

static void a_line_without_end_is_refused(void **state)
{
	static char piece[1024 * 1024];
	struct inis_buf log = INIS_BUF_INIT(0);
	struct cli_sse sse = CLI_SSE_INIT(record, &log);
	int result = 0;

	(void)state;
	memset(piece, 'a', sizeof(piece));
	for (int i = 0; i < 20 && result == 0; i++)
		result = cli_sse_feed(&sse, piece, sizeof(piece));
	assert_int_equal(result, -1);
	assert_true(sse.line.len <= CLI_SSE_LINE_MAX);
	cli_sse_free(&sse);
	inis_buf_free(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cut_gives_the_same_events),
		cmocka_unit_test(the_handler_can_stop_the_stream),
		cmocka_unit_test(a_line_without_end_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
