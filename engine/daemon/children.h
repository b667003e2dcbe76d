/* SPDX-License-Identifier: Apache-2.0
 *
 * children.h - how the supervisor starts broker and front.
 */
#ifndef INIS_DAEMON_CHILDREN_H
#define INIS_DAEMON_CHILDREN_H

#include <sys/types.h>

#include "daemon/config.h"
#include "daemon/state.h"

/* Finds inis-broker and inis-agent beside the running program and opens them. */
struct programs {
	int self;
	int broker;
	char agent[PATH_MAX];
};

int programs_find(struct programs *p, struct inis_error *err);

/* Starts the broker; *control is the supervisor's end of its control socket. */
pid_t broker_start(const struct programs *p, const struct inisd_config *config, const struct state *state, int *control,
		   struct inis_error *err);

/* Starts the front with the listening socket, its end of the broker's socket and its configuration. */
pid_t front_start(const struct programs *p, const struct inisd_config *config, const struct state *state, int listener,
		  int broker, int front_config, struct inis_error *err);

/* What the front reads from INIS_FRONT_FD_CONFIG. */
int front_config_fd(const struct inisd_config *config, const struct state *state, const char *base_url,
		    struct inis_error *err);

#endif
