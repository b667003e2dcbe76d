# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(tar tar.c LIBS inis_base)
