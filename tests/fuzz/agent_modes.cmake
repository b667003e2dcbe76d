# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(agent_modes "${CMAKE_CURRENT_LIST_DIR}/agent_modes.c" LIBS inis_agent)
