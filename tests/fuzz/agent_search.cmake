# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(agent_search "${CMAKE_CURRENT_LIST_DIR}/agent_search.c" LIBS inis_agent)
