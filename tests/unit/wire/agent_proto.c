/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_proto.c - every message comes back as it was; cut or stretched ones are refused.
 */
#include "wire/agent_proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STR(text_) ((struct inis_str){(text_), strlen(text_)})

typedef int (*decode_fn)(const void *data, size_t n);

/* No cut of a message and no message with a byte more may decode. */
static void refuses_all_but(const struct inis_buf *b, decode_fn decode)
{
	for (size_t n = 0; n <= b->len + 1; n++) {
		uint8_t *copy = calloc(1, n ? n : 1); /* exact size: a sanitizer sees a read past it */

		memcpy(copy, b->data, n < b->len ? n : b->len);
		assert_int_equal(decode(copy, n) >= 0, n == b->len);
		free(copy);
	}
}

static int decode_hello(const void *data, size_t n)
{
	struct inis_hello m;

	return inis_hello_unpack(data, n, &m);
}

static void hello_comes_back(void **state)
{
	struct inis_hello in = {.version = 1, .window = 262144, .features = 0x8000000000000007}, out;
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_hello_pack(&b, &in);
	assert_int_equal(inis_hello_unpack(b.data, b.len, &out), 0);
	assert_memory_equal(&in, &out, sizeof(in));
	refuses_all_but(&b, decode_hello);
	inis_buf_free(&b);
}

static int decode_reconnect(const void *data, size_t n)
{
	struct inis_reconnect m[2];

	return inis_reconnect_unpack(data, n, m, 2);
}

static void reconnect_comes_back_and_is_bounded(void **state)
{
	struct inis_reconnect in[2] = {{.id = "first", .channel = 1, .out_have = 1ULL << 40, .err_have = 2},
				       {.id = "second", .channel = 9, .state = INIS_RESUME_GAP}};
	struct inis_reconnect out[2];
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_reconnect_pack(&b, in, 2);
	assert_int_equal(inis_reconnect_unpack(b.data, b.len, out, 2), 2);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(out[i].id, in[i].id);
		assert_int_equal(out[i].channel, in[i].channel);
		assert_true(out[i].out_have == in[i].out_have && out[i].err_have == in[i].err_have);
		assert_int_equal(out[i].state, in[i].state);
	}
	assert_int_equal(inis_reconnect_unpack(b.data, b.len, out, 1), -1);
	refuses_all_but(&b, decode_reconnect);
	inis_buf_free(&b);
}

static int decode_exec(const void *data, size_t n)
{
	struct inis_exec m;
	int result = inis_exec_unpack(data, n, &m);

	inis_exec_free(&m);
	return result;
}

static void exec_comes_back(void **state)
{
	struct inis_str argv[] = {STR("sh"), STR("-c"), STR(""), STR("\xc3\xa9 \n")};
	struct inis_str env[] = {STR("A=1")};
	struct inis_exec in = {.id = STR("id-1"),
			       .flags = INIS_EXEC_DETACHED,
			       .timeout_ms = 300000,
			       .stdin_mode = INIS_STDIN_PIPE,
			       .capture_max = 4194304,
			       .cwd = STR("/workspace"),
			       .argc = 4,
			       .envc = 1,
			       .argv = argv,
			       .env = env};
	struct inis_exec out;
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_exec_pack(&b, &in);
	assert_int_equal(inis_exec_unpack(b.data, b.len, &out), 0);
	assert_true(inis_str_eq(out.id, "id-1") && inis_str_eq(out.cwd, "/workspace"));
	assert_int_equal(out.flags, in.flags);
	assert_int_equal(out.timeout_ms, in.timeout_ms);
	assert_int_equal(out.stdin_mode, in.stdin_mode);
	assert_true(out.capture_max == in.capture_max);
	assert_int_equal(out.argc, 4);
	assert_true(inis_str_eq(out.argv[3], "\xc3\xa9 \n") && inis_str_eq(out.argv[2], ""));
	assert_int_equal(out.envc, 1);
	assert_true(inis_str_eq(out.env[0], "A=1"));
	inis_exec_free(&out);
	refuses_all_but(&b, decode_exec);
	inis_buf_free(&b);
}

static void exec_without_command_or_with_foreign_stdin_is_refused(void **state)
{
	struct inis_str argv[] = {STR("true")};
	struct inis_exec in = {.id = STR("x"), .cwd = STR(""), .argc = 0, .argv = argv};
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_exec_pack(&b, &in);
	assert_int_equal(decode_exec(b.data, b.len), -1);
	in.argc = 1;
	in.stdin_mode = 2;
	inis_buf_reset(&b);
	inis_exec_pack(&b, &in);
	assert_int_equal(decode_exec(b.data, b.len), -1);
	inis_buf_free(&b);
}

static int decode_pty(const void *data, size_t n)
{
	struct inis_pty m;
	int result = inis_pty_unpack(data, n, &m);

	inis_exec_free(&m.exec);
	return result;
}

static void pty_comes_back_with_and_without_a_command(void **state)
{
	struct inis_str argv[] = {STR("vim")};
	struct inis_pty in = {
		.rows = 65535, .cols = 1, .exec = {.id = STR("p"), .cwd = STR("/"), .argc = 1, .argv = argv}};
	struct inis_pty out;
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_pty_pack(&b, &in);
	assert_int_equal(inis_pty_unpack(b.data, b.len, &out), 0);
	assert_int_equal(out.rows, 65535);
	assert_int_equal(out.cols, 1);
	assert_true(inis_str_eq(out.exec.argv[0], "vim"));
	inis_exec_free(&out.exec);
	refuses_all_but(&b, decode_pty);
	in.exec.argc = 0;
	inis_buf_reset(&b);
	inis_pty_pack(&b, &in);
	assert_int_equal(decode_pty(b.data, b.len), 0);
	inis_buf_free(&b);
}

static int decode_attach(const void *data, size_t n)
{
	struct inis_attach m;
	int result = inis_attach_unpack(data, n, &m);

	inis_exec_free(&m.pty.exec);
	return result;
}

static int decode_pty_info(const void *data, size_t n)
{
	struct inis_pty_info m;

	return inis_pty_info_unpack(data, n, &m);
}

static int decode_pty_entry(const void *data, size_t n)
{
	struct inis_pty_entry m;
	int result = inis_pty_entry_unpack(data, n, &m);

	inis_pty_entry_free(&m);
	return result;
}

static void an_attachment_comes_back(void **state)
{
	const struct inis_attach in = {.name = STR("main"),
				       .pty = {.cols = 7, .exec = {.id = STR("a"), .cwd = STR("")}}};
	struct inis_attach out;
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_attach_pack(&b, &in);
	assert_int_equal(inis_attach_unpack(b.data, b.len, &out), 0);
	assert_true(inis_str_eq(out.name, "main"));
	assert_true(inis_str_eq(out.pty.exec.id, "a"));
	assert_int_equal(out.pty.cols, 7);
	inis_exec_free(&out.pty.exec);
	refuses_all_but(&b, decode_attach);
	inis_buf_free(&b);
}

static void what_is_said_of_a_tape_is_checked(void **state)
{
	struct inis_pty_info in = {.first = 5, .live = 5, .rows = 1, .cols = 2, .flags = 3, .modes = {"\0\x1b", 2}},
			     out;
	static const char long_modes[INIS_PTY_MODES_MAX + 1];
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_pty_info_pack(&b, &in);
	assert_int_equal(inis_pty_info_unpack(b.data, b.len, &out), 0);
	assert_int_equal(out.live, 5);
	assert_int_equal(out.flags, 3);
	assert_memory_equal(out.modes.s, "\0\x1b", 2);
	refuses_all_but(&b, decode_pty_info);
	for (int i = 0; i < 4; i++) {
		struct inis_pty_info wrong = in;

		if (i == 0)
			wrong.live = 4;
		if (i == 1)
			wrong.rows = 0;
		if (i == 2)
			wrong.cols = 0;
		if (i == 3)
			wrong.modes = (struct inis_str){long_modes, sizeof(long_modes)};
		inis_buf_reset(&b);
		inis_pty_info_pack(&b, &wrong);
		assert_int_equal(decode_pty_info(b.data, b.len), -1);
	}
	inis_buf_free(&b);
}

static void a_listed_terminal_is_checked(void **state)
{
	struct inis_str argv[] = {STR("vim"), STR("x")};
	struct inis_pty_entry good = {
		.name = STR("main"), .rows = 1, .cols = 2, .attached = 1, .pid = 3, .argc = 2, .argv = argv};
	struct inis_pty_entry wrong[] = {good, good, good, good, good, good}, out;
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_pty_entry_pack(&b, &good);
	assert_int_equal(inis_pty_entry_unpack(b.data, b.len, &out), 0);
	assert_true(inis_str_eq(out.argv[1], "x"));
	inis_pty_entry_free(&out);
	refuses_all_but(&b, decode_pty_entry);
	wrong[0].name = (struct inis_str)STR("a/b");
	wrong[1].rows = 0;
	wrong[2].cols = 0;
	wrong[3].attached = 2;
	wrong[4].pid = 0;
	wrong[5].started_wall_ms = UINT64_MAX;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		inis_buf_reset(&b);
		inis_pty_entry_pack(&b, &wrong[i]);
		assert_int_equal(decode_pty_entry(b.data, b.len), -1);
	}
	inis_buf_free(&b);
}

static void a_count_without_its_strings_is_refused(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_pack_cstr(&b, "x");
	inis_pack_u32(&b, 0);
	inis_pack_u32(&b, 0);
	inis_pack_u8(&b, 0);
	inis_pack_u64(&b, 0);
	inis_pack_cstr(&b, "");
	inis_pack_u32(&b, UINT32_MAX);
	assert_int_equal(decode_exec(b.data, b.len), -1);
	inis_buf_free(&b);
}

static int decode_proc_info(const void *data, size_t n)
{
	struct inis_proc_info m;
	int result = inis_proc_info_unpack(data, n, &m);

	inis_proc_info_free(&m);
	return result;
}

static void process_info_comes_back(void **state)
{
	struct inis_str argv[] = {STR("sleep"), STR("5")};
	struct inis_proc_info in = {
		.name = STR("job"),
		.running = 0,
		.pid = 42,
		.exit = {.exit_code = -1, .signal = 15, .flags = INIS_EXIT_KILLED, .out_total = 1ULL << 33},
		.started_wall_ms = 1,
		.ended_wall_ms = 2,
		.argc = 2,
		.argv = argv};
	struct inis_proc_info out;
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_proc_info_pack(&b, &in);
	assert_int_equal(inis_proc_info_unpack(b.data, b.len, &out), 0);
	assert_true(inis_str_eq(out.name, "job") && inis_str_eq(out.argv[1], "5"));
	assert_int_equal(out.exit.exit_code, -1);
	assert_int_equal(out.exit.signal, 15);
	assert_true(out.exit.out_total == 1ULL << 33);
	assert_int_equal(out.pid, 42);
	assert_int_equal(out.ended_wall_ms, 2);
	inis_proc_info_free(&out);
	refuses_all_but(&b, decode_proc_info);
	inis_buf_free(&b);
}

static int decode_exited(const void *data, size_t n)
{
	struct inis_exited m;

	return inis_exited_unpack(data, n, &m);
}

/* With INIS_FEATURE_USAGE only: without it a message ends where it always did. */
static void what_a_command_has_cost_may_follow(void **state)
{
	struct inis_str argv[] = {STR("x")};
	struct inis_proc_info proc = {
		.name = STR("job"), .pid = 1, .exit = {.peak_bytes = 1ULL << 40}, .argc = 1, .argv = argv};
	struct inis_exited in = {.exit_code = 3, .peak_bytes = 1ULL << 40}, out;
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_exited_pack(&b, &in);
	assert_int_equal(inis_exited_unpack(b.data, b.len, &out), 0);
	assert_int_equal(out.peak_bytes, 0);
	inis_usage_pack(&b, &in);
	assert_int_equal(inis_exited_unpack(b.data, b.len, &out), 0);
	assert_int_equal(out.exit_code, 3);
	assert_true(out.peak_bytes == in.peak_bytes);
	inis_buf_reset(&b);
	inis_proc_info_pack(&b, &proc);
	assert_int_equal(inis_proc_info_unpack(b.data, b.len, &proc), 0);
	assert_true(proc.exit.peak_bytes == 1ULL << 40);
	inis_proc_info_free(&proc);
	inis_buf_free(&b);
}

static int decode_logs(const void *data, size_t n)
{
	struct inis_logs m;

	return inis_logs_unpack(data, n, &m);
}

static int decode_file_write(const void *data, size_t n)
{
	struct inis_file_write m;

	return inis_file_write_unpack(data, n, &m);
}

static int decode_file_info(const void *data, size_t n)
{
	struct inis_file_info m;

	return inis_file_info_unpack(data, n, &m);
}

static int decode_error(const void *data, size_t n)
{
	struct inis_error m;

	return inis_wire_error_unpack(data, n, &m);
}

static void short_messages_are_strict_too(void **state)
{
	struct inis_exited exited = {.exit_code = 124, .flags = INIS_EXIT_TIMED_OUT};
	struct inis_logs logs = {.name = STR("job"), .follow = 1, .out_from = 5};
	struct inis_file_write write = {.path = STR("/workspace/a"), .mode = 0755, .size = UINT64_MAX};
	struct inis_file_info info = {.type = INIS_FILE_SYMLINK, .mode = 0777, .size = 3, .mtime_ms = -1};
	struct inis_error error = {.code = INIS_CONFLICT, .field = "name", .message = "in use"};
	struct inis_buf b[5] = {{0}};
	static const decode_fn decoders[] = {decode_exited, decode_logs, decode_file_write, decode_file_info,
					     decode_error};

	(void)state;
	inis_exited_pack(&b[0], &exited);
	inis_logs_pack(&b[1], &logs);
	inis_file_write_pack(&b[2], &write);
	inis_file_info_pack(&b[3], &info);
	inis_wire_error_pack(&b[4], &error);
	for (int i = 0; i < 5; i++) {
		refuses_all_but(&b[i], decoders[i]);
		inis_buf_free(&b[i]);
	}
}

static void file_messages_check_their_values(void **state)
{
	struct inis_file_write write = {.path = STR("a"), .mode = 04755};
	struct inis_file_info info = {.type = 9};
	struct inis_buf b = INIS_BUF_INIT(0);

	(void)state;
	inis_file_write_pack(&b, &write);
	assert_int_equal(decode_file_write(b.data, b.len), -1);
	inis_buf_reset(&b);
	inis_file_info_pack(&b, &info);
	assert_int_equal(decode_file_info(b.data, b.len), -1);
	inis_buf_free(&b);
}

static void a_foreign_error_is_cut_to_fit(void **state)
{
	struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_error out;
	char text[1000];

	(void)state;
	memset(text, 'm', sizeof(text));
	inis_pack_u32(&b, 0xffffffff);
	inis_pack_u32(&b, 0);
	inis_pack_bytes(&b, text, sizeof(text));
	inis_pack_bytes(&b, text, sizeof(text));
	assert_int_equal(inis_wire_error_unpack(b.data, b.len, &out), 0);
	assert_int_equal(out.code, INIS_INTERNAL);
	assert_int_equal(strlen(out.field), sizeof(out.field) - 1);
	assert_int_equal(strlen(out.message), sizeof(out.message) - 1);
	inis_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_comes_back),
		cmocka_unit_test(reconnect_comes_back_and_is_bounded),
		cmocka_unit_test(exec_comes_back),
		cmocka_unit_test(exec_without_command_or_with_foreign_stdin_is_refused),
		cmocka_unit_test(pty_comes_back_with_and_without_a_command),
		cmocka_unit_test(an_attachment_comes_back),
		cmocka_unit_test(what_is_said_of_a_tape_is_checked),
		cmocka_unit_test(a_listed_terminal_is_checked),
		cmocka_unit_test(a_count_without_its_strings_is_refused),
		cmocka_unit_test(process_info_comes_back),
		cmocka_unit_test(what_a_command_has_cost_may_follow),
		cmocka_unit_test(short_messages_are_strict_too),
		cmocka_unit_test(file_messages_check_their_values),
		cmocka_unit_test(a_foreign_error_is_cut_to_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
