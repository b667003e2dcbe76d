/* SPDX-License-Identifier: Apache-2.0
 *
 * manual.h - what the program says about itself as a whole; the verbs say the rest.
 */
#ifndef INIS_CLI_MANUAL_H
#define INIS_CLI_MANUAL_H

#include <stdio.h>

/* `inis --help` */
void cli_overview(FILE *to);

/* inis(1), as roff, on stdout; the build makes the installed page with it. Returns the exit code. */
int cli_manual_page(void);

#endif
