/* SPDX-License-Identifier: Apache-2.0
 *
 * handlers.h - one handler for each route; see routes.c.
 */
#ifndef INIS_API_HANDLERS_H
#define INIS_API_HANDLERS_H

#include "http/http.h"

/* health.c, org.c, metrics.c, egress.c, planned.c */
void health_get(struct http_request *rq);
void org_get(struct http_request *rq);
void metrics_get(struct http_request *rq);
void egress_get(struct http_request *rq);
void planned(struct http_request *rq);

/* create.c, sessions.c */
void session_post(struct http_request *rq);
void sessions_get(struct http_request *rq);
void session_get(struct http_request *rq);
void session_remove(struct http_request *rq);

/* pause.c */
void session_pause_post(struct http_request *rq);
void session_resume_post(struct http_request *rq);
void session_lease_post(struct http_request *rq);

/* templates.c */
void templates_get(struct http_request *rq);
void template_remove(struct http_request *rq);

/* exec.c, exec_cancel.c, exec_stdin.c */
void exec_post(struct http_request *rq);
void exec_remove(struct http_request *rq);
void exec_stdin_post(struct http_request *rq);

/* batch_exec.c, one_shot.c, audit_list.c */
void batch_exec_post(struct http_request *rq);
void one_shot_post(struct http_request *rq);
void audit_get(struct http_request *rq);

/* pty.c, ptys.c */
void pty_get(struct http_request *rq);
void ptys_get(struct http_request *rq);
void pty_remove(struct http_request *rq);

/* processes.c, process_logs.c, process_stdin.c */
void process_post(struct http_request *rq);
void processes_get(struct http_request *rq);
void process_get(struct http_request *rq);
void process_remove(struct http_request *rq);
void process_logs_get(struct http_request *rq);
void process_stdin_post(struct http_request *rq);

/* files.c, files_legacy.c, files_write.c, files_batch.c, upload.c, download.c */
void files_get(struct http_request *rq);
void files_post(struct http_request *rq);
void files_put(struct http_request *rq);
void files_remove(struct http_request *rq);
void files_batch_put(struct http_request *rq);
void files_mkdir_post(struct http_request *rq);
void files_rename_post(struct http_request *rq);
void upload_put(struct http_request *rq);
void download_get(struct http_request *rq);

#endif
