/* SPDX-License-Identifier: Apache-2.0
 *
 * pipes.h - the three streams of a command.
 */
#ifndef INIS_AGENT_PIPES_H
#define INIS_AGENT_PIPES_H

#include <sys/types.h>

#include "base/error.h"

/* Each: the reading end, the writing end. The agent's end of each never makes it wait. */
struct pipes {
	int in[2];
	int out[2];
	int err[2];
};

#define PIPES_NONE                  \
	{                           \
		{-1, -1}, {-1, -1}, \
		{                   \
			-1, -1      \
		}                   \
	}

/* On failure all are closed. */
int pipes_make(struct pipes *p, struct inis_error *err);
void pipes_close(struct pipes *p);
/* Made by somebody else, they become this user's, so that a program may open /dev/stdout anew. */
int pipes_give(const struct pipes *p, uid_t uid, gid_t gid, struct inis_error *err);

#endif
