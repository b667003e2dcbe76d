/* SPDX-License-Identifier: Apache-2.0
 *
 * complete.h - what may come next on a command line, for the completion of shells.
 */
#ifndef INIS_CLI_COMPLETE_H
#define INIS_CLI_COMPLETE_H

/* The verb, in no help, that the shells' functions call: `inis __complete WORD…`, the last word being completed. */
#define CLI_COMPLETE "__complete"

/*
 * Prints one candidate a line, with a tab and what it is where there is more to say, or the line ":files". The words
 * are those after the program's name, NULL-terminated. Starts no engine and never fails: an answer may be empty.
 */
int cli_complete(char **words);

#endif
