/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - the state directory as the supervisor sees it.
 *
 *   lock         flock of the supervisor: one server a directory
 *   broker-lock  flock that the broker holds as well: one whose supervisor was killed needs a moment to notice
 *   instance     name that tells this server's kernel objects from those of others on the machine
 *   key          API keys (or elsewhere)
 *   engine.json  how to reach the server, while it runs
 *   db/ logs/    the front's
 *   units/ templates/   the broker's
 */
#ifndef INIS_DAEMON_STATE_H
#define INIS_DAEMON_STATE_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "broker/broker.h"
#include "daemon/config.h"

struct state {
	int dir;
	int lock;
	int broker_lock;
	int ranges; /* the machine's file of uid range locks */
	char instance[INIS_INSTANCE_MAX + 1];
	char store_dir[PATH_MAX + 8];
	char logs_dir[PATH_MAX + 8]; /* what is kept of ended sessions */
};

/* Makes what is missing, takes the locks. Another server on the directory: conflict. */
int state_open(struct state *s, const struct inisd_config *config, struct inis_error *err);
void state_close(struct state *s);

/* Whether the front will get to a path below the state directory; what of it exists counts. forbidden, naming what bars it. */
int state_check_reachable(const char *path, const struct inisd_config *config, struct inis_error *err);

/* The keys of the key file as a JSON array of strings; makes the file when it is missing. */
int state_read_keys(const char *path, struct inis_buf *json, struct inis_error *err);

int state_write_engine(const struct state *s, const char *base_url, const char *key_file, struct inis_error *err);
void state_remove_engine(const struct state *s);

#endif
