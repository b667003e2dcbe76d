# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(agent_proto agent_proto.c LIBS inis_wire)
