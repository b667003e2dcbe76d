/* SPDX-License-Identifier: Apache-2.0
 *
 * client.c - a plain client of the agent for tests.
 */
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/cleanup.h"

#define EPOCH   7
#define WAIT_MS 60000 /* long beyond anything a test waits for */

struct inis_str str(const char *s)
{
	return (struct inis_str){s, strlen(s)};
}

static void wait_for(const struct client *c, short events)
{
	struct pollfd p = {.fd = c->sock, .events = events};

	if (poll(&p, 1, WAIT_MS) != 1)
		fail_msg("the agent does not go on");
}

static void send_all(struct client *c, const struct inis_buf *b)
{
	size_t at = 0;

	assert_false(b->failed);
	while (at < b->len) {
		ssize_t n = send(c->sock, b->data + at, b->len - at, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN) {
			wait_for(c, POLLOUT);
			continue;
		}
		if (n < 0)
			fail_msg("send: %s", strerror(errno));
		at += (size_t)n;
	}
}

void client_send(struct client *c, uint32_t channel, enum inis_frame_type type, uint16_t flags, const void *payload,
		 size_t n)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	if (n > INIS_FRAME_PAYLOAD_MAX)
		inis_frame_put_message(&b, EPOCH, channel, (uint16_t)type, payload, n);
	else
		inis_frame_put(&b, EPOCH, channel, (uint16_t)type, flags, payload, n);
	send_all(c, &b);
}

void client_send_buf(struct client *c, uint32_t channel, enum inis_frame_type type, struct inis_buf *b)
{
	assert_false(b->failed);
	client_send(c, channel, type, 0, b->data, b->len);
}

void client_send_stream(struct client *c, uint32_t channel, uint16_t flags, uint64_t offset, const void *data, size_t n)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_frame_put_stream(&b, EPOCH, channel, INIS_F_STDIN, flags, offset, data, n);
	send_all(c, &b);
}

void client_ack(struct client *c, uint32_t channel, uint64_t out, uint64_t err)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u64(&b, out);
	inis_pack_u64(&b, err);
	client_send_buf(c, channel, INIS_F_ACK, &b);
}

void client_release(struct client *c, uint32_t channel)
{
	client_send(c, channel, INIS_F_RELEASE, 0, NULL, 0);
}

uint32_t client_channel(struct client *c)
{
	return ++c->last_channel;
}

bool client_next(struct client *c, struct inis_frame *f)
{
	struct inis_error err = INIS_ERROR_INIT;

	inis_buf_consume(&c->in, c->consumed);
	c->consumed = 0;
	for (;;) {
		ptrdiff_t n = inis_frame_parse(c->in.data, c->in.len, f, &err);
		uint8_t *to;
		ssize_t got;

		if (n < 0)
			fail_msg("bad frame: %s", err.message);
		if (n > 0) {
			assert_int_equal(f->epoch, EPOCH);
			c->consumed = (size_t)n;
			return true;
		}
		to = inis_buf_reserve(&c->in, 65536);
		assert_non_null(to);
		wait_for(c, POLLIN);
		got = recv(c->sock, to, 65536, 0);
		if (got <= 0)
			return false;
		c->in.len += (size_t)got;
	}
}

void client_expect(struct client *c, uint32_t channel, enum inis_frame_type type, struct inis_frame *f)
{
	if (!client_next(c, f))
		fail_msg("the connection ended");
	if (f->type == INIS_F_ERROR && type != INIS_F_ERROR) {
		struct inis_error err;

		assert_int_equal(inis_wire_error_unpack(f->payload, f->length, &err), 0);
		fail_msg("frame %d expected, error %s: %s", type, inis_code_name(err.code), err.message);
	}
	assert_int_equal(f->type, type);
	assert_int_equal(f->channel, channel);
}

void client_expect_error(struct client *c, uint32_t channel, enum inis_code code, const char *text)
{
	struct inis_frame f;
	struct inis_error err;

	client_expect(c, channel, INIS_F_ERROR, &f);
	assert_int_equal(inis_wire_error_unpack(f.payload, f.length, &err), 0);
	assert_string_equal(inis_code_name(err.code), inis_code_name(code));
	if (!strcasestr(err.message, text))
		fail_msg("\"%s\" is not in \"%s\"", text, err.message);
}

void client_open(struct client *c, const struct unit *u)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_hello hello = {INIS_AGENT_VERSION, INIS_AGENT_WINDOW, 0};
	struct inis_frame f;

	memset(c, 0, sizeof(*c));
	c->sock = unit_connect(u);
	inis_hello_pack(&b, &hello);
	client_send_buf(c, 0, INIS_F_HELLO, &b);
	client_expect(c, 0, INIS_F_HELLO, &f);
	assert_int_equal(inis_hello_unpack(f.payload, f.length, &hello), 0);
	assert_int_equal(hello.version, INIS_AGENT_VERSION);
}

void client_start(struct client *c, const struct unit *u)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_frame f;

	client_open(c, u);
	inis_reconnect_pack(&b, NULL, 0);
	client_send_buf(c, 0, INIS_F_RECONNECT, &b);
	client_expect(c, 0, INIS_F_RECONNECTED, &f);
}

void client_close(struct client *c)
{
	close_fd(&c->sock);
	inis_buf_free(&c->in);
}

void outcome_free(struct outcome *o)
{
	inis_buf_free(&o->out);
	inis_buf_free(&o->err);
}

const char *outcome_out(struct outcome *o)
{
	return inis_buf_cstr(&o->out);
}

const char *outcome_err(struct outcome *o)
{
	return inis_buf_cstr(&o->err);
}

struct inis_exec client_sh(const char *script, struct inis_str argv[3])
{
	argv[0] = str("sh");
	argv[1] = str("-c");
	argv[2] = str(script);
	return (struct inis_exec){.id = str(""), .argc = 3, .argv = argv};
}

uint32_t client_exec_start(struct client *c, struct inis_exec *m)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	uint32_t channel = client_channel(c);
	char id[24];

	snprintf(id, sizeof(id), "exec-%u", channel);
	if (m->id.len == 0)
		m->id = str(id);
	inis_exec_pack(&b, m);
	client_send_buf(c, channel, INIS_F_EXEC, &b);
	return channel;
}

void client_take(struct inis_buf *to, uint64_t base, const struct inis_frame *f)
{
	struct inis_unpack u;

	inis_unpack_init(&u, f->payload, f->length);
	/* No gap and no overlap. */
	assert_int_equal(inis_unpack_u64(&u), base + to->len);
	inis_buf_append(to, u.at, u.left);
}

void client_exec_finish_from(struct client *c, uint32_t channel, uint64_t out, struct outcome *o)
{
	struct inis_frame f;

	*o = (struct outcome){0};
	for (;;) {
		if (!client_next(c, &f))
			fail_msg("the connection ended");
		if (f.channel != channel)
			continue;
		if (f.type == INIS_F_OUT) {
			client_take(&o->out, out, &f);
			client_ack(c, channel, out + o->out.len, o->err.len);
		} else if (f.type == INIS_F_ERR) {
			client_take(&o->err, 0, &f);
			client_ack(c, channel, out + o->out.len, o->err.len);
		} else if (f.type == INIS_F_EXITED) {
			break;
		} else if (f.type == INIS_F_ERROR) {
			struct inis_error err;

			inis_wire_error_unpack(f.payload, f.length, &err);
			fail_msg("error %s: %s", inis_code_name(err.code), err.message);
		}
	}
	assert_int_equal(inis_exited_unpack(f.payload, f.length, &o->exited), 0);
	client_release(c, channel);
}

void client_exec_finish(struct client *c, uint32_t channel, struct outcome *o)
{
	client_exec_finish_from(c, channel, 0, o);
}

void client_run(struct client *c, const char *script, struct outcome *o)
{
	struct inis_str argv[3];
	struct inis_exec m = client_sh(script, argv);

	client_exec_finish(c, client_exec_start(c, &m), o);
}

void client_succeed(const char *script)
{
	struct outcome o;

	client_run(&client, script, &o);
	if (o.exited.exit_code != 0)
		fail_msg("%s: %d %s", script, o.exited.exit_code, outcome_err(&o));
	outcome_free(&o);
}

void client_expect_output(const char *script, const char *out)
{
	struct outcome o;

	client_run(&client, script, &o);
	if (out && strcmp(outcome_out(&o), out) != 0)
		fail_msg("%s: \"%s\" expected, got \"%s\", stderr \"%s\"", script, out, outcome_out(&o),
			 outcome_err(&o));
	outcome_free(&o);
}

/* ---- a program of tests ---- */

struct unit unit;
struct client client;

static uint32_t unit_flags;

bool unit_wanted(uint32_t flags)
{
	unit_flags = flags;
	if (unit_possible())
		return true;
	print_message("a unit can only be made as root: skipped\n");
	return false;
}

int unit_set_up(void **state)
{
	(void)state;
	unit_make(&unit);
	unit_activate(&unit, unit_flags);
	return 0;
}

int unit_tear_down(void **state)
{
	(void)state;
	unit_destroy(&unit);
	return 0;
}

int client_set_up(void **state)
{
	unit_set_up(state);
	client_start(&client, &unit);
	return 0;
}

int client_tear_down(void **state)
{
	client_close(&client);
	return unit_tear_down(state);
}
