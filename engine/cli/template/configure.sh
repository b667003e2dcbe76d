# SPDX-License-Identifier: Apache-2.0
# Third step, inside the new tree and with nothing of the host but /debs: installs the packages, then makes it the
# home of a guest.
set -eu
umask 022
export DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true LC_ALL=C.UTF-8 HOME=/root
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
mkdir -p /var/lib/dpkg/info /var/lib/dpkg/updates
[ -e /var/lib/dpkg/status ] || : >/var/lib/dpkg/status
dpkg --force-depends --force-unsafe-io --install /debs/base-passwd_*.deb
dpkg --force-depends --force-unsafe-io --unpack /debs/*.deb
dpkg --force-confold --configure --pending
[ -z "$(dpkg --audit)" ] || { dpkg --audit >&2; exit 1; }

groupadd --gid 999 sandbox
useradd --uid 999 --gid 999 --home-dir /home/sandbox --create-home --shell /bin/bash --groups sudo sandbox
install -d -m 755 -o sandbox -g sandbox /workspace
install -d -m 755 /run/inis
install -d -m 1777 /run/lock
printf 'sandbox ALL=(ALL:ALL) NOPASSWD: ALL\n' >/etc/sudoers.d/sandbox
chmod 440 /etc/sudoers.d/sandbox
printf 'Defaults !fqdn\n' >/etc/sudoers.d/inis
chmod 440 /etc/sudoers.d/inis
cat >/etc/profile <<'PROFILE'
# Login shells keep the PATH they were given.
: "${PATH:=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"
export PATH
if [ -n "${BASH_VERSION-}" ] && [ -r /etc/bash.bashrc ]; then . /etc/bash.bashrc; fi
PROFILE
cat >/etc/bash.bashrc <<'BASHRC'
[ -n "${PS1-}" ] || return 0
shopt -s checkwinsize
PS1='\u@\h:\w\$ '
BASHRC
rm -f /home/sandbox/.bashrc /home/sandbox/.profile /home/sandbox/.bash_logout
printf 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n' >/etc/resolv.conf
printf 'inis\n' >/etc/hostname
printf '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n' >/etc/hosts

rm -f /usr/sbin/policy-rc.d
: >/etc/machine-id
rm -rf /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/apt/archives/*.deb \
  /var/cache/debconf/*-old /var/lib/dpkg/*-old /var/cache/ldconfig/aux-cache /var/log/*.log /var/log/apt \
  /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow- /etc/subuid- /etc/subgid- /etc/.pwd.lock /tmp/* /var/tmp/*
