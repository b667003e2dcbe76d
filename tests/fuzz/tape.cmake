# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(tape tape.c LIBS inis_wire inis_base)
