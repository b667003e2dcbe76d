/* SPDX-License-Identifier: Apache-2.0
 *
 * load.c - sessions by HTTP: one at a time, many at once, and as many as go.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "http.h"
#include "stopwatch.h"

#define LANES_MAX 1024
#define ID_SIZE   80

static struct http kept = {.fd = -1};
static char reply[HTTP_TEXT_MAX];

/* One connection and the session that goes through its life on it. */
struct lane {
	struct http http;
	char id[ID_SIZE];
	enum { CREATING, EXECUTING, DESTROYING, RESTING } doing;
};

int verb_target(int count, char **words)
{
	http_close(&kept);
	if (count != 3 || http_target(words[1], words[2]) < 0)
		return refuse("target: PORT TOKEN");
	printf("ok\n");
	return 0;
}

int verb_request(int count, char **words)
{
	int64_t from;
	int status;

	if (count != 4)
		return refuse("request: METHOD PATH BODY");
	if (kept.fd < 0 && http_connect(&kept) < 0)
		return refuse("connect: %s", strerror(errno));
	from = now_ns();
	status = http_ask(&kept, words[1], words[2], words[3], reply);
	if (status < 0) {
		http_close(&kept);
		return refuse("%s %s: %s", words[1], words[2], strerror(errno));
	}
	printf("ok\t%lld\t%d\t%s\n", (long long)(now_ns() - from), status, reply);
	return 0;
}

/* The value of "session_id" in an answer. */
static int take_id(const char *text, char id[static ID_SIZE])
{
	const char *at = strstr(text, "\"session_id\":\"");
	size_t n;

	if (!at)
		return -1;
	at += strlen("\"session_id\":\"");
	n = strcspn(at, "\"");
	if (n == 0 || n >= ID_SIZE)
		return -1;
	memcpy(id, at, n);
	id[n] = '\0';
	return 0;
}

static int succeeded(int status, const char *text)
{
	return status == 200 && strstr(text, "\"exit_code\":0");
}

static void exec_path(const char *id, char *path, size_t size)
{
	snprintf(path, size, "/v1/sessions/%s/exec", id);
}

int verb_session(int count, char **words)
{
	char id[ID_SIZE], path[ID_SIZE + 32];
	int64_t from;
	int status;

	if (count != 3)
		return refuse("session: BODY EXEC_BODY");
	if (kept.fd < 0 && http_connect(&kept) < 0)
		return refuse("connect: %s", strerror(errno));
	from = now_ns();
	status = http_ask(&kept, "POST", "/v1/sessions", words[1], reply);
	if (status != 201 || take_id(reply, id) < 0)
		return refuse("create: %d %s", status, reply);
	exec_path(id, path, sizeof(path));
	status = http_ask(&kept, "POST", path, words[2], reply);
	from = now_ns() - from;
	if (!succeeded(status, reply))
		return refuse("exec: %d %s", status, reply);
	printf("ok\t%lld\t%s\n", (long long)from, id);
	return 0;
}

static int lane_start(struct lane *l, int epoll, const char *body)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = l};

	l->doing = CREATING;
	if (http_connect(&l->http) < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, l->http.fd, &e) < 0)
		return -1;
	return http_send(&l->http, "POST", "/v1/sessions", body, 0);
}

/* Sends what follows on the answer that has come: 1, or 0 when the lane is at the end of its life, or -1. */
static int lane_step(struct lane *l, const char *exec, int destroy)
{
	char path[ID_SIZE + 32];
	int status = http_text(&l->http, reply);

	if (l->doing == CREATING) {
		/* 202: still being made after some seconds; a command would wait for it. */
		if ((status != 201 && !(status == 202 && exec)) || take_id(reply, l->id) < 0)
			return -1;
		l->doing = EXECUTING;
		if (!exec)
			return 0;
		exec_path(l->id, path, sizeof(path));
		return http_send(&l->http, "POST", path, exec, 0) < 0 ? -1 : 1;
	}
	if (l->doing == EXECUTING) {
		if (!succeeded(status, reply))
			return -1;
		l->doing = DESTROYING;
		if (!destroy)
			return 0;
		snprintf(path, sizeof(path), "/v1/sessions/%s", l->id);
		return http_send(&l->http, "DELETE", path, "", 0) < 0 ? -1 : 1;
	}
	return status == 204 || status == 200 ? 0 : -1;
}

static struct lane *lanes_new(long n)
{
	struct lane *lanes = n >= 1 && n <= LANES_MAX ? calloc((size_t)n, sizeof(*lanes)) : NULL;

	for (long i = 0; lanes && i < n; i++)
		lanes[i].http.fd = -1;
	return lanes;
}

static void lanes_free(struct lane *lanes, long n)
{
	for (long i = 0; i < n; i++)
		http_close(&lanes[i].http);
	free(lanes);
}

static void lane_fail(struct lane *l, const char *what)
{
	fprintf(stderr, "stopwatch: %s: %.400s\n", what, reply);
	l->doing = RESTING;
	http_close(&l->http);
}

int verb_burst(int count, char **words)
{
	long n = count == 4 ? strtol(words[1], NULL, 10) : 0;
	const char *exec = n && strcmp(words[3], "-") != 0 ? words[3] : NULL;
	struct lane *lanes = lanes_new(n);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	long left = n, failed = 0;
	int64_t from = now_ns();

	if (!lanes || epoll < 0)
		return refuse("burst: COUNT BODY EXEC_BODY|-, COUNT up to %d", LANES_MAX);
	for (long i = 0; i < n; i++) {
		if (lane_start(&lanes[i], epoll, words[2]) < 0) {
			lane_fail(&lanes[i], "connect");
			failed++, left--;
		}
	}
	while (left > 0) {
		struct epoll_event e;
		struct lane *l;
		int more;

		if (epoll_wait(epoll, &e, 1, -1) != 1)
			continue;
		l = e.data.ptr;
		more = lane_step(l, exec, 0);
		if (more > 0)
			continue;
		if (more < 0) {
			lane_fail(l, "burst");
			failed++;
		} else {
			epoll_ctl(epoll, EPOLL_CTL_DEL, l->http.fd, NULL);
		}
		left--;
	}
	printf("ok\t%lld\t%ld\t", (long long)(now_ns() - from), failed);
	for (long i = 0, first = 1; i < n; i++) {
		if (lanes[i].id[0])
			printf("%s%s", first ? "" : ",", lanes[i].id), first = 0;
	}
	putchar('\n');
	lanes_free(lanes, n);
	close(epoll);
	return 0;
}

int verb_steady(int count, char **words)
{
	int64_t last = count == 5 ? (int64_t)(strtod(words[1], NULL) * 1e9) : 0;
	long n = count == 5 ? strtol(words[2], NULL, 10) : 0;
	struct lane *lanes = lanes_new(n);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	long running = n, cycles = 0, failed = 0;
	int64_t from = now_ns();

	if (!lanes || epoll < 0 || last <= 0)
		return refuse("steady: SECONDS CONNECTIONS BODY EXEC_BODY");
	for (long i = 0; i < n; i++) {
		if (lane_start(&lanes[i], epoll, words[3]) < 0) {
			lane_fail(&lanes[i], "connect");
			failed++, running--;
		}
	}
	while (running > 0) {
		struct epoll_event e;
		struct lane *l;
		int more;

		if (epoll_wait(epoll, &e, 1, -1) != 1)
			continue;
		l = e.data.ptr;
		more = lane_step(l, words[4], 1);
		if (more > 0)
			continue;
		if (more == 0) {
			cycles++;
			l->doing = CREATING;
			if (now_ns() - from < last && http_send(&l->http, "POST", "/v1/sessions", words[3], 0) == 0)
				continue;
			http_close(&l->http);
		} else {
			lane_fail(l, "steady");
			failed++;
		}
		running--;
	}
	printf("ok\t%lld\t%ld\t%ld\n", (long long)(now_ns() - from), cycles, failed);
	lanes_free(lanes, n);
	close(epoll);
	return 0;
}
