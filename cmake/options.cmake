# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, hardening and instrumentation for every target of the project.
set(INIS_SANITIZE "" CACHE STRING "Sanitizers for all targets, as for -fsanitize=")
option(INIS_FUZZ "Instrument for libFuzzer (clang) and build the fuzzers" OFF)
option(INIS_COVERAGE "Instrument for gcov" OFF)
option(INIS_TEST_WALLS "For tests of containment: INIS_WALLS_OFF takes walls away. Never for a product" OFF)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

include_directories("${PROJECT_SOURCE_DIR}/engine")
if(INIS_TEST_WALLS)
  add_compile_definitions(INIS_TEST_WALLS)
endif()
add_compile_definitions(_GNU_SOURCE INIS_VERSION="${PROJECT_VERSION}")
add_compile_options(
  -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
  -Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wimplicit-fallthrough
  -fno-strict-aliasing -fno-common
  # clang takes the comparisons that libseccomp's macros make for unfinished initialisers, and SQL over
  # several lines of a table for a forgotten comma.
  $<$<C_COMPILER_ID:Clang>:-Wno-missing-field-initializers> $<$<C_COMPILER_ID:Clang>:-Wno-string-concatenation>)

add_compile_options(-fstack-protector-strong -fstack-clash-protection -fcf-protection
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)

set(INIS_INSTRUMENTED OFF)
if(INIS_SANITIZE)
  set(INIS_INSTRUMENTED ON)
  add_compile_options("-fsanitize=${INIS_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${INIS_SANITIZE}")
endif()
if(INIS_FUZZ)
  set(INIS_INSTRUMENTED ON)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(INIS_COVERAGE)
  set(INIS_INSTRUMENTED ON)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
if(INIS_INSTRUMENTED)
  # Instrumented code confuses what gcc can tell about values; the dev build has these warnings.
  add_compile_options($<$<C_COMPILER_ID:GNU>:-Wno-format-truncation> $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
else()
  add_compile_options("$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>" "$<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>")
endif()

# inis_library(<layer> LIBS <libraries>...): the static library inis_<layer> from all *.c of the
# calling folder.
function(inis_library layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS")
  file(GLOB sources CONFIGURE_DEPENDS *.c)
  list(FILTER sources EXCLUDE REGEX "/main\\.c$")
  add_library(inis_${layer} STATIC ${sources})
  target_link_libraries(inis_${layer} PUBLIC ${arg_LIBS})
endfunction()

# What a user runs; the default target builds the unit tests as well.
add_custom_target(programs)

# inis_program(<name> <sources>... LIBS <libraries>... [STATIC]): an executable of the project.
# STATIC programs need nothing from the system they run on; instrumented builds link them
# dynamically, because the sanitizer runtimes cannot be linked statically.
function(inis_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC" "" "LIBS")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  if(INIS_SANITIZE MATCHES address)
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/sanitizer_defaults.c")
  endif()
  if(arg_STATIC AND NOT INIS_INSTRUMENTED)
    target_link_options(${name} PRIVATE -static-pie)
  else()
    target_link_options(${name} PRIVATE -pie)
  endif()
  add_dependencies(programs ${name})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
