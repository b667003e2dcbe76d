# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(http_json http_json.c LIBS inis_http)
