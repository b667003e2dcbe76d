/* SPDX-License-Identifier: Apache-2.0
 *
 * app.h - a small application on a real server, run by a thread of its own.
 */
#ifndef INIS_TESTS_HTTP_APP_H
#define INIS_TESTS_HTTP_APP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define APP_KEY "sk_test"

struct app_options {
	size_t connections_max;
	uint64_t head_timeout_ms;
	uint64_t body_idle_timeout_ms;
	uint64_t websocket_ping_ms;
	uint32_t rate, burst; /* of the one key there is */
	uint32_t requests_max;
	uint32_t body_rate_min;
	uint64_t body_patience_ms;
};

struct app {
	int port;
	atomic_int calls; /* handlers called */
	atomic_int closes; /* on_close called */
	atomic_int refused_writes; /* stream writes that asked to stop */
	atomic_int drains; /* on_drain called */
	atomic_int malformed; /* told so */
	atomic_size_t produced; /* bytes of /flood */
	atomic_size_t consumed; /* bytes of a streamed upload */
	atomic_bool ended; /* /hang and /flood requests end when this is set */
	atomic_bool drained;
	atomic_size_t connections, requests; /* server load, kept up to date */
	struct app_inside *inside;
};

struct app *app_start(const struct app_options *options);
/* Begins to drain; app->drained says when it is done. */
void app_drain(struct app *app);
/* Ends the server and the thread and frees. */
void app_stop(struct app *app);

/* Waits until a condition holds; fails the test when it does not in a long time. */
#define app_wait(condition)                                             \
	do {                                                            \
		for (int i_ = 0; !(condition); i_++) {                  \
			if (i_ > 3000)                                  \
				fail_msg("never came: %s", #condition); \
			usleep(10000);                                  \
		}                                                       \
	} while (0)

#endif
