# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(http_url http_url.c LIBS inis_http)
