# SPDX-License-Identifier: Apache-2.0
# The HTTP/1.1 parser, from the C sources that the package node-llhttp installs, in strict mode:
# lenient parsing is what request smuggling is made of.
find_path(LLHTTP_SOURCE_DIR llhttp.c PATHS /usr/share/llhttp NO_DEFAULT_PATH REQUIRED)
find_path(LLHTTP_INCLUDE_DIR llhttp.h PATHS /usr/share/include/llhttp NO_DEFAULT_PATH REQUIRED)
add_library(llhttp STATIC
  "${LLHTTP_SOURCE_DIR}/api.c" "${LLHTTP_SOURCE_DIR}/http.c" "${LLHTTP_SOURCE_DIR}/llhttp.c")
target_include_directories(llhttp SYSTEM PUBLIC "${LLHTTP_INCLUDE_DIR}")
target_compile_definitions(llhttp PUBLIC LLHTTP_STRICT_MODE=1)
target_compile_options(llhttp PRIVATE -w)
