#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The linters, one at a time or all: format, tidy, cppcheck, biome, all; fix applies the formatters.
# tidy needs a configured build/dev (make engine).
set -euo pipefail
cd "$(dirname "$0")/.."

c_files() { git ls-files --cached --others --exclude-standard {engine,tests,bench}/'*.[ch]'; }
jobs=$(nproc)

format() { c_files | xargs -r clang-format --dry-run --Werror; }
tidy() { c_files | grep '^engine/.*\.c$' | xargs -r -P "$jobs" -n 4 clang-tidy --quiet -p build/dev 2>&1 | { grep -v ' warnings\? generated\.$\|^Suppressed \|^Use -header-filter' || true; }; }
cppcheck_all() {
  cppcheck --quiet --std=c11 --language=c --enable=warning,portability,performance --inline-suppr \
    --error-exitcode=1 --suppressions-list=scripts/cppcheck-suppressions.txt -D_GNU_SOURCE -D__x86_64__ -DINIS_VERSION='"0"' \
    -D'json_array_foreach(a,i,v)=for(i=0;i<json_array_size(a)&&(v=json_array_get(a,i));i++)' \
    -D'json_object_foreach(o,k,v)=for(;;)' -I engine -j "$jobs" engine
}
biome() { node_modules/.bin/biome check --error-on-warnings .; }

case ${1:-all} in
  format) format ;;
  tidy) tidy ;;
  cppcheck) cppcheck_all ;;
  biome) biome ;;
  all) format && tidy && cppcheck_all && biome ;;
  fix) c_files | xargs -r clang-format -i && node_modules/.bin/biome check --write . ;;
  *) echo "usage: $0 [format|tidy|cppcheck|biome|all|fix]" >&2; exit 2 ;;
esac
