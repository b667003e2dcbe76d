/* SPDX-License-Identifier: Apache-2.0
 *
 * priv.h - giving rights up.
 */
#ifndef INIS_OS_PRIV_H
#define INIS_OS_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Whether capability `cap` (CAP_*) is effective. */
bool inis_has_cap(unsigned cap);

/* Takes every capability that is not in keep (bit n: capability n) out of the bounding set. */
int inis_bounding_keep(uint64_t keep, struct inis_error *err);

/* Becomes this uid and gid for good: no groups, no capabilities of any kind, no_new_privs. */
int inis_drop_to(uid_t uid, gid_t gid, struct inis_error *err);

/*
 * File access as this id but with all capabilities: what an overlay is mounted with remembers the file ids, and
 * with an id that its layers do not map it would silently be read-only. inis_fsid_restore() goes back to 0.
 */
int inis_fsid_enter(uid_t id, struct inis_error *err);
void inis_fsid_restore(void);

#endif
