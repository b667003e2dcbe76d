# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(http_conn http_conn.c LIBS inis_http)
