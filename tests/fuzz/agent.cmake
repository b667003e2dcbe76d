# SPDX-License-Identifier: Apache-2.0
inis_fuzzer(agent_guest_files "${CMAKE_CURRENT_LIST_DIR}/agent_guest_files.c" LIBS inis_agent)
