/* SPDX-License-Identifier: Apache-2.0
 *
 * fault_shim.h - the page that a test shares with the shim in its broker.
 */
#ifndef INIS_TESTS_BROKER_FAULT_SHIM_H
#define INIS_TESTS_BROKER_FAULT_SHIM_H

#define FAULT_ENV "INIS_TEST_FAULTS" /* names the file that is the page */

struct faults {
	_Atomic int countdown; /* the call that takes it to 0 fails; not positive: none does */
	_Atomic int hit; /* a call has failed */
	char name[32]; /* which */
};

#endif
