/* SPDX-License-Identifier: Apache-2.0
 *
 * hostile_agent.c - an agent that was taken over: what inis-agent becomes in a session whose guest says so.
 *
 * DOC: How it works
 *
 * The program is the real agent, linked so that what it sends goes through here. It is an honest agent until the file
 * HOW says how it means harm, "MODE SEED"; in a session without sudo it is silent from the start. It takes the frames
 * that the real agent wants to send, and sends what it likes, as far as the socket takes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "chance.h"
#include "wire/agent_proto.h"

#define HOW       "/workspace/.hostile"
#define FRAME_MAX (INIS_FRAME_HEADER + INIS_FRAME_PAYLOAD_MAX)
#define KEPT      16 /* frames for a replay */

ssize_t __real_send(int fd, const void *data, size_t n, int flags);
ssize_t __real_recv(int fd, void *data, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t n, int flags);

static struct inis_buf wanted; /* by the real agent: the beginning of a frame */
static struct inis_buf rest; /* of what the socket took only half */
static struct inis_frame last; /* that the real agent wanted to send */
static int flooded = -1; /* the connection of a flood */

static struct {
	uint8_t bytes[FRAME_MAX];
	size_t n;
} kept[KEPT];
static unsigned kept_count;

/* False: the socket is full, and all of it was dropped. */
static bool out(int fd, const void *data, size_t n)
{
	ssize_t sent = 0;

	if (rest.len > 0)
		sent = __real_send(fd, rest.data, rest.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		inis_buf_consume(&rest, (size_t)sent);
	if (rest.len > 0)
		return false;
	sent = __real_send(fd, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		inis_buf_append(&rest, (const uint8_t *)data + sent, n - (size_t)sent);
	return sent > 0;
}

static bool put(int fd, uint32_t channel, uint16_t type, uint16_t flags, const void *payload, size_t n)
{
	struct inis_buf b = INIS_BUF_INIT(0);
	bool whole;

	inis_frame_put(&b, last.epoch, channel, type, flags, payload, n);
	whole = out(fd, b.data, b.len);
	inis_buf_free(&b);
	return whole;
}

static void noise(uint8_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)chance(256);
}

static void keep(const uint8_t *frame, size_t n)
{
	memcpy(kept[kept_count % KEPT].bytes, frame, n);
	kept[kept_count++ % KEPT].n = n;
}

/* ---- the ways to mean harm; each gets one real frame ---- */

/* Bytes that are no frames, or real frames with some bytes changed. */
static void garble(int fd, uint8_t *frame, size_t n)
{
	if (chance(4) == 0)
		noise(frame, n);
	for (unsigned i = chance(4); i > 0; i--)
		frame[chance((uint32_t)(chance(2) ? INIS_FRAME_HEADER : n))] = (uint8_t)chance(256);
	out(fd, frame, n);
}

/* The beginning of a frame, and then the next one. */
static void truncate_frame(int fd, uint8_t *frame, size_t n)
{
	out(fd, frame, chance((uint32_t)n));
}

/* A header that promises more than there may be, or a message that never ends. */
static void oversize(int fd, uint8_t *frame, size_t n)
{
	static const uint32_t lengths[] = {INIS_FRAME_PAYLOAD_MAX, INIS_FRAME_PAYLOAD_MAX + 1, INT32_MAX, UINT32_MAX};
	static uint8_t filler[INIS_FRAME_PAYLOAD_MAX];
	uint32_t length = lengths[chance(4)];

	if (chance(2)) {
		memcpy(frame + INIS_FRAME_HEADER - sizeof(length), &length, sizeof(length));
		out(fd, frame, n);
		return;
	}
	while (put(fd, last.channel, last.type, INIS_FRAME_MORE, filler, sizeof(filler)))
		;
}

/* Frames that were sent before, a frame twice. */
static void replay(int fd, uint8_t *frame, size_t n)
{
	keep(frame, n);
	out(fd, frame, n);
	for (unsigned i = 0; i < 4; i++) {
		unsigned at = chance(kept_count < KEPT ? kept_count : KEPT);

		out(fd, kept[at].bytes, kept[at].n);
	}
}

/* Held back, and then in another order. */
static void reorder(int fd, uint8_t *frame, size_t n)
{
	keep(frame, n);
	if (kept_count < 2 + chance(KEPT - 2))
		return;
	while (kept_count > 0) {
		unsigned at = chance(kept_count);

		out(fd, kept[at].bytes, kept[at].n);
		kept[at] = kept[--kept_count];
	}
}

static void be_silent(int fd, uint8_t *frame, size_t n)
{
	(void)fd;
	(void)frame;
	(void)n;
}

/* Well-formed answers that nobody asked for, to whatever channel. */
static void invent(int fd, uint8_t *frame, size_t n)
{
	static const uint64_t offsets[] = {0, 1, INIS_AGENT_WINDOW, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
	uint8_t payload[256];
	uint64_t offset = offsets[chance(sizeof(offsets) / sizeof(offsets[0]))];
	uint32_t channel = chance(4) ? last.channel : chance(64);
	uint16_t type = (uint16_t)chance(INIS_F_RESUMED + 2);

	noise(payload, sizeof(payload));
	memcpy(payload, &offset, sizeof(offset));
	put(fd, channel, type, (uint16_t)chance(INIS_FRAME_FLAGS + 1), payload, chance(sizeof(payload)));
	if (chance(2))
		out(fd, frame, n);
}

typedef void (*harm_fn)(int fd, uint8_t *frame, size_t n);

static const struct {
	const char *name;
	harm_fn harm;
} MODES[] = {
	{"garbled", garble},    {"truncated", truncate_frame}, {"oversized", oversize}, {"replayed", replay},
	{"reordered", reorder}, {"silent", be_silent},         {"invented", invent},
};

/* ---- floods: one of these as often as the socket takes it, in place of a real frame ---- */

/* Each wants an answer, and none is read. */
static bool ping(int fd)
{
	static const uint8_t payload[64];

	return put(fd, 0, INIS_F_PING, 0, payload, sizeof(payload));
}

/* To channels that nobody has opened. */
static bool stray(int fd)
{
	static const uint8_t payload[INIS_FRAME_PAYLOAD_MAX];

	return put(fd, 1000000 + chance(1000), INIS_F_OUT, 0, payload, chance(2) ? sizeof(payload) : 9);
}

/* Of a list that never ends. */
static bool process(int fd)
{
	struct inis_str argv[] = {{"word", 4}, {"word", 4}, {"word", 4}, {"word", 4}};
	struct inis_proc_info info = {.name = {"process", 7}, .running = 1, .pid = 2, .argc = 4, .argv = argv};
	struct inis_buf b = INIS_BUF_INIT(0);
	bool whole;

	inis_proc_info_pack(&b, &info);
	whole = put(fd, last.channel, INIS_F_PROC_INFO, 0, b.data, b.len);
	inis_buf_free(&b);
	return whole;
}

static const struct {
	const char *name;
	bool (*one)(int fd);
	uint16_t instead_of; /* 0: anything */
} FLOODS[] = {{"pings", ping, 0}, {"strays", stray, 0}, {"processes", process, INIS_F_END}};

#define COUNT(list_) (sizeof(list_) / sizeof((list_)[0]))

/* ---- the connection ---- */

/* The mode that the session asks for, or an empty text. */
static const char *mode(void)
{
	static char name[32];
	static unsigned long long seed, seeded;
	char text[64] = "";
	int fd = open(HOW, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || sscanf(text, "%31s %llu", name, &seed) != 2)
		return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? "silent" : "";
	if (seed != seeded)
		seed_chance(seed);
	seeded = seed;
	return name;
}

/* Gives each whole frame to the harm; what is not one yet waits. */
static ssize_t harm_each(int fd, harm_fn harm, const void *data, size_t n)
{
	static uint8_t copy[FRAME_MAX];
	ptrdiff_t length;

	inis_buf_append(&wanted, data, n);
	while ((length = inis_frame_parse(wanted.data, wanted.len, &last, NULL)) > 0) {
		memcpy(copy, wanted.data, (size_t)length);
		inis_buf_consume(&wanted, (size_t)length);
		harm(fd, copy, (size_t)length);
	}
	if (length < 0)
		inis_buf_reset(&wanted);
	return (ssize_t)n;
}

/* The real agent is told that the socket is full, and so asks again whenever it is not. */
static ssize_t flood(int fd, bool (*one)(int fd), uint16_t instead_of, const void *data, size_t n)
{
	ptrdiff_t length = inis_frame_parse(data, n, &last, NULL);

	if (length <= 0 || last.channel == 0 || (instead_of && last.type != instead_of))
		return out(fd, data, length > 0 ? (size_t)length : n) ? (length > 0 ? length : (ssize_t)n) : -1;
	flooded = fd;
	while (one(fd))
		;
	errno = EAGAIN;
	return -1;
}

static bool begins_connection(const void *data, size_t n)
{
	struct inis_frame f;

	return inis_frame_parse(data, n, &f, NULL) > 0 && f.type == INIS_F_HELLO;
}

ssize_t __wrap_send(int fd, const void *data, size_t n, int flags)
{
	const char *how = mode();

	if (begins_connection(data, n)) {
		inis_buf_reset(&rest);
		inis_buf_reset(&wanted);
	}
	for (size_t i = 0; i < COUNT(MODES); i++) {
		if (strcmp(how, MODES[i].name) == 0)
			return harm_each(fd, MODES[i].harm, data, n);
	}
	for (size_t i = 0; i < COUNT(FLOODS); i++) {
		if (strcmp(how, FLOODS[i].name) == 0)
			return flood(fd, FLOODS[i].one, FLOODS[i].instead_of, data, n);
	}
	return __real_send(fd, data, n, flags);
}

ssize_t __wrap_recv(int fd, void *data, size_t n, int flags)
{
	if (fd == flooded && strcmp(mode(), "pings") == 0) {
		errno = EAGAIN;
		return -1;
	}
	return __real_recv(fd, data, n, flags);
}
