/* SPDX-License-Identifier: Apache-2.0
 *
 * migrate.h - the schema: numbered steps, carried out once each, in order.
 */
#ifndef INIS_STORE_MIGRATE_H
#define INIS_STORE_MIGRATE_H

#include "store/sqlite.h"

/* Generated from migrations/: entry n leads from version n to n + 1. */
extern const int store_migration_count;
extern const char *const store_migrations[];

/* Refuses what is not ours, is damaged or comes from a newer version, without writing to it. */
int store_identify(struct db *db, struct inis_error *err);
/* Brings an identified one up to date. A fresh one gets the check value of key, any other is checked against it. */
int store_migrate(struct db *db, const struct seal_key *key, struct inis_error *err);
/* Whether the database has no tables yet. -1 on error. */
int store_is_fresh(struct db *db, struct inis_error *err);

#endif
