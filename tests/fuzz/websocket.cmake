# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(websocket websocket.c LIBS inis_base)
