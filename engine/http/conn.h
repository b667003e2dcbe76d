/* SPDX-License-Identifier: Apache-2.0
 *
 * conn.h - one connection: a request after the other.
 *
 *   HEAD ──head whole──▶ BODY ──body whole──▶ WORK ──answered──▶ HEAD …
 *     └───────┴─────────────┴── no more requests ──▶ LINGER ──▶ CLOSED
 *
 * A connection does one request at a time; what a client sends ahead waits in
 * `in`, and a new request starts only when the last answer has left. Everything
 * that moves it on goes through http_conn_run(), which never nests: progress that
 * a handler causes happens after the handler has returned, or on the next turn of
 * the loop (http_conn_kick).
 *
 * WORK may lead to SOCKET, where the connection is a WebSocket until it lingers or closes.
 *
 * LINGER: the last answer is out or on its way, the outgoing direction is ended
 * and input is thrown away for a while, because closing with unread input would
 * take the answer from the client.
 */
#ifndef INIS_HTTP_CONN_H
#define INIS_HTTP_CONN_H

#include "http/parse.h"
#include "http/sock.h"

#define HTTP_INPUT_MAX (96 * 1024) /* stop reading at so much unparsed input; more than a head */

struct http_server;

enum http_conn_state {
	HTTP_CONN_HEAD,
	HTTP_CONN_BODY,
	HTTP_CONN_WORK,
	HTTP_CONN_SOCKET,
	HTTP_CONN_LINGER,
	HTTP_CONN_CLOSED
};

struct http_conn {
	struct http_sock sock;
	struct http_server *server;
	struct http_conn *next, *prev; /* all of the server */
	struct http_conn *kick_next;
	enum http_conn_state state;
	bool running;
	bool kicked;
	bool eof;
	llhttp_t parser;
	struct http_head_scan scan;
	struct inis_buf in;
	struct http_request *rq;
	uint64_t since; /* what the timeout of the state counts from */
	uint64_t linger_from;
};

struct http_conn *http_conn_new(struct http_server *server);
void http_conn_run(struct http_conn *c);
void http_conn_kick(struct http_conn *c);
/* The current request has become a WebSocket. */
void http_conn_switch(struct http_conn *c);
/* Sends 100 Continue if the client waits for it, and lets the body's clock begin. */
void http_conn_continue(struct http_conn *c);
/* The answer of c's request has been written; cut: it is not whole. Drops the handler's reference. */
void http_conn_answered(struct http_conn *c, bool cut);
/* Refuses what comes in: an error answer if there is room for one, then the end. */
void http_conn_fail(struct http_conn *c, const struct inis_error *err);
/* Closes if nothing is going on; at the latest after the current request. */
void http_conn_drain(struct http_conn *c);
/* Whether it has no request, or none whose head is whole, and nothing of an answer is on its way. */
bool http_conn_spare(const struct http_conn *c);
/* Closes whatever is going on. */
void http_conn_drop(struct http_conn *c);
/* Timeouts and heartbeats; called regularly. */
void http_conn_tick(struct http_conn *c, uint64_t now);

#endif
