# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(cli_sse cli_sse.c LIBS inis_cli)
