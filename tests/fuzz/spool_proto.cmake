# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(spool_proto spool_proto.c LIBS inis_wire)
