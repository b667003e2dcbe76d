/* SPDX-License-Identifier: Apache-2.0
 *
 * file_ops.h - file operations that several routes share. Each takes over its request.
 */
#ifndef INIS_API_FILE_OPS_H
#define INIS_API_FILE_OPS_H

#include "api/object.h"
#include "api/op.h"

#define FILE_CONTENT_MAX ((size_t)8 * 1024 * 1024) /* one write, or a whole batch */

/* Takes body, which path may point into. length -1: the whole file. */
void file_read(struct http_request *rq, json_t *body, const char *path, bool base64, int64_t offset, int64_t length);
void file_list(struct http_request *rq, json_t *body, const char *path);
/* find or grep, by the query. */
void file_search(struct http_request *rq, const char *path, bool grep);
/* "type", "size_bytes", "mode", "mtime". */
void file_info_members(struct object *o, const struct inis_file_info *info);
/* Takes body: {"path","content","encoding","mode"}. */
void file_write(struct http_request *rq, json_t *body);

/* Bytes in memory that become a file. */
struct file_put {
	struct agent_call *call;
	const uint8_t *data;
	size_t left;
	bool finished;
	void (*done)(void *ctx, const struct inis_error *err); /* once */
	void *ctx;
};

/* path, content and done are set; -1: done is not called. */
int file_put_start(struct file_put *p, struct agent *a, const char *path, uint32_t mode, struct inis_error *err);

/* The member "mode": 0 when absent. */
int file_mode(const json_t *o, uint32_t *mode, struct inis_error *err);

#endif
