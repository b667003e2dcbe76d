# SPDX-License-Identifier: Apache-2.0
# Libraries of the system, found by pkg-config, as targets PkgConfig::<name>.
find_package(PkgConfig REQUIRED)
pkg_check_modules(uv REQUIRED IMPORTED_TARGET libuv>=1.44)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson>=2.14)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3>=3.38)
pkg_check_modules(openssl REQUIRED IMPORTED_TARGET openssl>=3.0)
pkg_check_modules(libseccomp REQUIRED IMPORTED_TARGET libseccomp>=2.5)
pkg_check_modules(pcre2 REQUIRED libpcre2-8>=10.36)
pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl>=7.80)
pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka>=1.1)
find_package(Threads REQUIRED)
