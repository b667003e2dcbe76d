# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(frame frame.c LIBS inis_wire)
