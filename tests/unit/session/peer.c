/* SPDX-License-Identifier: Apache-2.0
 *
 * peer.c - an agent's end of the connection, played by a test step by step.
 */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"

#define PATIENCE 5000 /* rounds of about a millisecond */

static void connect_pair(struct peer *p)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	close_fd(&p->fd);
	p->fd = pair[0];
	fcntl(p->fd, F_SETFL, O_NONBLOCK);
	inis_buf_reset(&p->in);
	agent_attach(p->agent, pair[1]);
}

static void on_ready(void *ctx)
{
	((struct peer *)ctx)->ready++;
}

static void on_connect(void *ctx)
{
	struct peer *p = ctx;

	p->connects++;
	if (p->unreachable)
		agent_unreachable(p->agent);
	else
		connect_pair(p);
}

static void on_lost(void *ctx)
{
	((struct peer *)ctx)->lost++;
}

static void new_agent(struct peer *p)
{
	static const struct agent_owner owner = {.on_ready = on_ready, .on_connect = on_connect, .on_lost = on_lost};

	p->agent = agent_new(&p->loop, &owner, p, NULL);
	assert_non_null(p->agent);
}

int peer_setup(void **state)
{
	struct peer *p = calloc(1, sizeof(*p));

	p->fd = -1;
	p->epoch = 7;
	uv_loop_init(&p->loop);
	new_agent(p);
	*state = p;
	return 0;
}

int peer_setup_greeted(void **state)
{
	struct peer *p;

	peer_setup(state);
	p = *state;
	connect_pair(p);
	peer_greet(p);
	return 0;
}

static void end_agent(struct peer *p)
{
	static const struct inis_error why = {.code = INIS_SESSION_ENDED, .message = "the test is over"};

	agent_close(p->agent, &why);
	p->agent = NULL;
	close_fd(&p->fd);
}

int peer_teardown(void **state)
{
	struct peer *p = *state;

	end_agent(p);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&p->loop), 0);
	inis_buf_free(&p->in);
	inis_buf_free(&p->frame.payload);
	free(p);
	return 0;
}

void peer_renew(struct peer *p)
{
	end_agent(p);
	peer_run(p);
	new_agent(p);
	connect_pair(p);
	peer_greet(p);
}

void peer_run(struct peer *p)
{
	for (int i = 0; i < 20; i++)
		uv_run(&p->loop, UV_RUN_NOWAIT);
}

void peer_wait(struct peer *p)
{
	peer_run(p);
	usleep(1000);
}

/* ---- taking ---- */

static bool take(struct peer *p)
{
	struct inis_frame f;
	ptrdiff_t n = 0;
	ssize_t got;

	peer_run(p);
	do {
		uint8_t *room = inis_buf_reserve(&p->in, 65536);

		got = p->fd < 0 ? -1 : read(p->fd, room, 65536);
		if (got > 0)
			p->in.len += (size_t)got;
	} while (got > 0);
	n = inis_frame_parse(p->in.data, p->in.len, &f, NULL);
	assert_true(n >= 0);
	if (n == 0)
		return false;
	p->frame.channel = f.channel;
	p->frame.type = f.type;
	p->frame.flags = f.flags;
	inis_buf_reset(&p->frame.payload);
	inis_buf_append(&p->frame.payload, f.payload, f.length);
	inis_buf_consume(&p->in, (size_t)n);
	return true;
}

static const struct peer_frame *take_soon(struct peer *p)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (take(p))
			return &p->frame;
		usleep(1000);
	}
	fail_msg("no frame came");
	return NULL;
}

const struct peer_frame *peer_expect(struct peer *p, uint16_t type)
{
	const struct peer_frame *f;

	do {
		f = take_soon(p);
	} while (f->type == INIS_F_ACK && type != INIS_F_ACK);
	assert_int_equal(f->type, type);
	return f;
}

bool peer_silent(struct peer *p)
{
	return !take(p);
}

uint64_t peer_ack_of(struct peer *p, uint32_t channel)
{
	const struct peer_frame *f = peer_expect(p, INIS_F_ACK);
	struct inis_unpack u;

	assert_int_equal(f->channel, channel);
	inis_unpack_init(&u, f->payload.data, f->payload.len);
	return inis_unpack_u64(&u);
}

size_t peer_take_input(struct peer *p, uint32_t channel, bool *eof)
{
	size_t bytes = 0;

	while (take(p)) {
		if (p->frame.type != INIS_F_STDIN)
			continue;
		assert_int_equal(p->frame.channel, channel);
		bytes += p->frame.payload.len - 8;
		if (eof && (p->frame.flags & INIS_FRAME_EOF))
			*eof = true;
	}
	return bytes;
}

/* ---- sending ---- */

static void send_all(struct peer *p, const struct inis_buf *b)
{
	size_t at = 0;

	assert_false(inis_buf_failed(b));
	while (at < b->len) {
		ssize_t n = send(p->fd, b->data + at, b->len - at, MSG_NOSIGNAL);

		if (n > 0)
			at += (size_t)n;
		else if (errno != EAGAIN)
			return; /* the other end has hung up: some tests want that */
		peer_run(p);
	}
}

void peer_raw(struct peer *p, uint32_t channel, uint16_t type, uint16_t flags, const void *data, size_t n)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_frame_put(&b, p->epoch, channel, type, flags, data, n);
	send_all(p, &b);
}

static void send_payload(struct peer *p, uint32_t channel, uint16_t type, const struct inis_buf *payload)
{
	peer_raw(p, channel, type, 0, payload->data, payload->len);
}

void peer_started(struct peer *p, uint32_t channel)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u32(&b, 42);
	inis_pack_u64(&b, 1000);
	send_payload(p, channel, INIS_F_STARTED, &b);
}

void peer_stream(struct peer *p, uint32_t channel, uint16_t type, uint64_t offset, const void *data, size_t n)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_frame_put_stream(&b, p->epoch, channel, type, 0, offset, data, n);
	send_all(p, &b);
}

void peer_fill(struct peer *p, uint32_t channel, uint16_t type, uint64_t offset, size_t n)
{
	static const uint8_t zeros[65536];

	peer_stream(p, channel, type, offset, zeros, n);
}

void peer_exited(struct peer *p, uint32_t channel, int exit_code)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_exited e = {.exit_code = exit_code};

	inis_exited_pack(&b, &e);
	send_payload(p, channel, INIS_F_EXITED, &b);
}

void peer_error(struct peer *p, uint32_t channel, enum inis_code code, const char *field, const char *text)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);
	struct inis_error err = {.code = code};

	strncpy(err.field, field, sizeof(err.field) - 1);
	strncpy(err.message, text, sizeof(err.message) - 1);
	inis_wire_error_pack(&b, &err);
	send_payload(p, channel, INIS_F_ERROR, &b);
}

void peer_input_ack(struct peer *p, uint32_t channel, uint64_t offset, bool closed)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u64(&b, offset);
	inis_pack_u8(&b, closed);
	send_payload(p, channel, INIS_F_STDIN_ACK, &b);
}

void peer_logs_info(struct peer *p, uint32_t channel, uint64_t out, uint64_t err)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u64(&b, out);
	inis_pack_u64(&b, err);
	inis_pack_u8(&b, 0);
	send_payload(p, channel, INIS_F_LOGS_INFO, &b);
}

void peer_end(struct peer *p, uint32_t channel)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_pack_u32(&b, 0);
	send_payload(p, channel, INIS_F_END, &b);
}

/* ---- greeting ---- */

const struct peer_frame *peer_greet_until_reconnect(struct peer *p)
{
	const struct inis_hello hello = {INIS_AGENT_VERSION, INIS_AGENT_WINDOW, 0};
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	peer_expect(p, INIS_F_HELLO);
	inis_hello_pack(&b, &hello);
	send_payload(p, 0, INIS_F_HELLO, &b);
	return peer_expect(p, INIS_F_RECONNECT);
}

void peer_reconnected(struct peer *p, const struct inis_reconnect *entries, uint32_t count)
{
	cleanup_buf struct inis_buf b = INIS_BUF_INIT(0);

	inis_reconnect_pack(&b, entries, count);
	send_payload(p, 0, INIS_F_RECONNECTED, &b);
	peer_run(p);
}

void peer_greet(struct peer *p)
{
	peer_greet_until_reconnect(p);
	peer_reconnected(p, NULL, 0);
}

void peer_break(struct peer *p)
{
	unsigned before = p->connects;

	close_fd(&p->fd);
	for (int i = 0; i < PATIENCE && p->connects == before; i++)
		peer_wait(p);
	assert_int_not_equal(p->connects, before);
}

void peer_forget_execs(struct peer *p)
{
	struct inis_reconnect entries[4];
	const struct peer_frame *f = peer_greet_until_reconnect(p);
	int count = inis_reconnect_unpack(f->payload.data, f->payload.len, entries, 4);

	assert_true(count >= 0);
	for (int i = 0; i < count; i++)
		entries[i].state = INIS_RESUME_UNKNOWN;
	peer_reconnected(p, entries, (uint32_t)count);
}
