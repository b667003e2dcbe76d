/* SPDX-License-Identifier: Apache-2.0
 *
 * agent_guest_files.c - fuzzer: what the agent reads of a guest's own making: its user tables and the paths of file
 * requests.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/files/path.h"
#include "agent/user.h"
#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void user(const uint8_t *data, size_t size)
{
	cleanup_free char *text = malloc(size + 1);
	struct guest_user u = {.uid = USER_ID, .gid = USER_ID};

	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	user_parse_passwd(text, &u);
	user_parse_group(text, &u);
	if (u.n_groups > USER_GROUPS_MAX || u.uid > 65534 || u.gid > 65534 || !memchr(u.home, '\0', sizeof(u.home)) ||
	    !memchr(u.shell, '\0', sizeof(u.shell)))
		abort();
}

static void path(const uint8_t *data, size_t size)
{
	char out[FILE_PATH_MAX];

	if (memchr(data, '\0', size) || path_parse((struct inis_str){(const char *)data, size}, out, NULL) < 0)
		return;
	if (out[0] == '\0' || out[0] == '/')
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0 && data[0] % 2)
		user(data + 1, size - 1);
	else if (size > 0)
		path(data + 1, size - 1);
	return 0;
}
