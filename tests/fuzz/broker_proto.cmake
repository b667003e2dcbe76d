# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(broker_proto broker_proto.c LIBS inis_wire)
