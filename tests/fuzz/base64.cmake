# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(base64 base64.c LIBS inis_base)
