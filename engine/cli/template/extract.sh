# SPDX-License-Identifier: Apache-2.0
# Second step: the files of all packages, so that no script of theirs misses a program. In the new tree.
set -eu
umask 022
for name in bin sbin lib lib64; do
  mkdir -p "usr/$name"
  [ -L "$name" ] || ln -s "usr/$name" "$name"
done
for package in debs/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -xp --numeric-owner --keep-directory-symlink -f -
done
