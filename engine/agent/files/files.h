/* SPDX-License-Identifier: Apache-2.0
 *
 * files.h - file requests: the first message of a channel.
 *
 * All with the guest user's rights. Nothing here can be made to wait by what a path leads to: other things than
 * regular files are refused.
 */
#ifndef INIS_AGENT_FILES_FILES_H
#define INIS_AGENT_FILES_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

int file_read_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int file_write_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int file_list_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int file_mkdir_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int file_remove_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int file_rename_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int file_stat_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int file_find_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);
int file_grep_request(uint32_t channel, const void *data, size_t n, struct inis_error *err);

/* Answers with what stat said. */
void file_send_info(uint32_t channel, const struct stat *st);

#endif
