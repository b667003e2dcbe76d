/* SPDX-License-Identifier: Apache-2.0
 *
 * upload.h - handlers of streamed bodies.
 */
#ifndef INIS_TESTS_HTTP_UPLOAD_H
#define INIS_TESTS_HTTP_UPLOAD_H

#include "http/http.h"

struct app;

void put_upload(struct http_request *rq); /* counts and sums */
void put_slow_upload(struct http_request *rq); /* pauses after every piece */
void put_stuck_upload(struct http_request *rq); /* takes one piece and then nothing more */
void put_refused(struct http_request *rq); /* answers without having looked at the body */
void put_half(struct http_request *rq); /* answers at the first bytes of the body */

/* From app.c. */
struct app *app_called(struct http_request *rq);
void app_no_memory(struct http_request *rq);
void app_count_close(struct http_request *rq, void *ctx);
uv_loop_t *app_loop(struct app *app);

#endif
