/* SPDX-License-Identifier: Apache-2.0
 *
 * target.c - which server the command line talks to.
 */
#include "cli/target.h"

#include <stdlib.h>
#include <string.h>

#include "cli/embedded.h"

#define PUBLISHED_URL     "https://api.inis.run"
#define DEFAULT_STATE_DIR "/var/lib/inis"

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

static int from_environment(struct cli_target *target, const char *base_url, const char *token, struct inis_error *err)
{
	size_t length;

	if (!token)
		return inis_fail(err, INIS_BAD_REQUEST, "INIS_BASE_URL is set but INIS_API_KEY is not");
	target->base_url = strdup(base_url ? base_url : PUBLISHED_URL);
	target->token = strdup(token);
	if (!target->base_url || !target->token)
		return inis_fail(err, INIS_UNAVAILABLE, "out of memory");
	length = strlen(target->base_url);
	if (length > 0 && target->base_url[length - 1] == '/')
		target->base_url[length - 1] = '\0';
	return 0;
}

bool cli_target_given(void)
{
	return setting("INIS_BASE_URL") || setting("INIS_API_KEY");
}

const char *cli_state_dir(void)
{
	const char *dir = setting("INIS_STATE_DIR");

	return dir ? dir : DEFAULT_STATE_DIR;
}

int cli_target_find(struct cli_target *target, struct inis_error *err)
{
	if (cli_target_given())
		return from_environment(target, setting("INIS_BASE_URL"), setting("INIS_API_KEY"), err);
	return cli_embedded_find(target, cli_state_dir(), &(struct cli_embedded_start)CLI_EMBEDDED_START_INIT, err);
}

bool cli_target_running(struct cli_target *target)
{
	if (cli_target_given())
		return from_environment(target, setting("INIS_BASE_URL"), setting("INIS_API_KEY"), NULL) == 0;
	return cli_embedded_alive(target, cli_state_dir());
}

void cli_target_free(struct cli_target *target)
{
	free(target->base_url);
	free(target->token);
	*target = (struct cli_target){NULL, NULL};
}
