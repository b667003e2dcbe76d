# SPDX-License-Identifier: Apache-2.0
# Unit tests (cmocka, run by CTest) and fuzzers (libFuzzer, built by the preset "fuzz" only).
enable_testing()

# inis_unit_test(<name> <sources>... LIBS <libraries>... [TIMEOUT <seconds>])
function(inis_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LIBS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(test_${name} ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(test_${name} PRIVATE ${arg_LIBS} PkgConfig::cmocka)
  # Per-case results as XML are what scripts/run-tests.mjs counts.
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()

# inis_fuzzer(<name> <source> LIBS <libraries>...): fuzz_<name>; seeds in tests/fuzz/corpus/<name>/.
if(INIS_FUZZ)
  add_custom_target(fuzzers)
endif()
function(inis_fuzzer name source)
  if(NOT INIS_FUZZ)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBS")
  add_executable(fuzz_${name} ${source})
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzzers")
  target_link_libraries(fuzz_${name} PRIVATE ${arg_LIBS})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${name})
endfunction()
