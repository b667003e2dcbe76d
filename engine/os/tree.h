/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.h - directory trees as tar archives, both ways.
 *
 * What is carried: files, directories and symbolic links with names of any bytes, permission bits (no set-id, no
 * sticky) and times of change to the nanosecond. Links are kept as links and never followed, except the one that names
 * the tree itself. Hard links become files of their own. Sockets, named pipes and devices are left out, and said so.
 *
 * An archive has one root: its first entry, of which all others are below. Entries come depth first.
 */
#ifndef INIS_OS_TREE_H
#define INIS_OS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define INIS_TREE_DEPTH_MAX 256
#define INIS_TREE_NAME_MAX  256 /* of one component, with its NUL */

/* What is told on the way, and what was carried so far. */
struct inis_tree_report {
	/* failed: it should have been carried; else it was left out by rule. text: "PATH: why", any bytes. */
	void (*note)(void *ctx, bool failed, const char *text);
	void *ctx;
	uint64_t files, directories, links, bytes;
	unsigned left_out, failed;
};

/* -1 ends the packing. */
typedef int (*inis_tree_sink)(void *ctx, const void *data, size_t n);

struct inis_tree_pack {
	inis_tree_sink write;
	void *ctx;
	const char *const *exclude; /* patterns of names below the root, as of a shell; NULL-terminated, or NULL */
};

/* The whole archive of path. -1: path cannot be read, or the sink has failed; what else went wrong is in the report. */
int inis_tree_pack(const struct inis_tree_pack *p, const char *path, struct inis_tree_report *report,
		   struct inis_error *err);

/* Where an archive goes. */
struct inis_tree_place {
	int dir; /* owned */
	char name[INIS_TREE_NAME_MAX]; /* what the root is called there; "" = as in the archive */
	bool contents; /* the root is dir itself */
};

/*
 * path is a directory, or ends in a slash: into it. Else its last component is the root's new name. contents: path
 * becomes the root itself. Directories that are missing are made.
 */
int inis_tree_place(const char *path, bool contents, struct inis_tree_place *place, struct inis_error *err);

struct inis_tree_unpack;

/*
 * Nothing is ever made outside place->dir, whatever the archive says. A directory that is there is gone into and stays
 * as it is; a file or link that is there is replaced in one step. A root that is not there appears, as a whole, at the
 * end. Takes place->dir.
 */
struct inis_tree_unpack *inis_tree_unpack_new(struct inis_tree_place *place, struct inis_tree_report *report,
					      struct inis_error *err);
/* Bytes of the archive. -1: it is malformed, or there is no room. */
int inis_tree_unpack_feed(struct inis_tree_unpack *u, const void *data, size_t n, struct inis_error *err);
/* -1: the archive was not whole; nothing of a new root is left then. */
int inis_tree_unpack_end(struct inis_tree_unpack *u, struct inis_error *err);
/* Removes what is unfinished. */
void inis_tree_unpack_free(struct inis_tree_unpack *u);

/* One file of bytes whose number is not known before: */
struct inis_tree_file;
/* Takes place->dir. With place->name "", `name` is used. */
struct inis_tree_file *inis_tree_file_new(struct inis_tree_place *place, const char *name, struct inis_error *err);
int inis_tree_file_write(struct inis_tree_file *f, const void *data, size_t n, struct inis_error *err);
int inis_tree_file_end(struct inis_tree_file *f, struct inis_error *err); /* under its name now */
void inis_tree_file_free(struct inis_tree_file *f);

/* Counts and passes on. */
void inis_tree_note(struct inis_tree_report *report, bool failed, const char *path, const char *why);

#endif
