# SPDX-License-Identifier: Apache-2.0
# First step of a template: its packages, chosen, fetched and checked by the machine's own apt from its own sources.
# Nothing of the machine's package state is read or changed. Arguments: WORK CACHE PACKAGE…
#   WORK/debs   gets the packages   WORK/suite  the suite's name
set -eu
work=$1
cache=$2
shift 2

. /etc/os-release
[ "${ID:-}" = debian ] && [ -n "${VERSION_CODENAME:-}" ] || {
  echo 'the template debian is built from the packages of a Debian machine; this is another system' >&2
  exit 1
}
for tool in apt-get dpkg dpkg-deb tar awk; do
  command -v "$tool" >/dev/null || { echo "missing: $tool (apt-get install apt dpkg tar mawk)" >&2; exit 1; }
done

apt=$work/apt
mkdir -p "$apt/lists/partial" "$apt/sources" "$cache/partial" "$work/debs"
: >"$apt/status"
printf 'Package: *\nPin: release o=Debian\nPin-Priority: 990\n\nPackage: *\nPin: release *\nPin-Priority: -1\n' \
  >"$apt/preferences"

# Of the machine's sources those of its suite; what else it has (other vendors') is not asked.
suites="$VERSION_CODENAME $VERSION_CODENAME-updates $VERSION_CODENAME-security"
for file in /etc/apt/sources.list.d/*.sources; do
  [ ! -e "$file" ] || awk -v RS= -v ORS='\n\n' -v want="$suites" '
    BEGIN { n = split(want, w); for (i = 1; i <= n; i++) ok[w[i]] = 1 }
    {
      keep = 0
      lines = split($0, line, "\n")
      for (i = 1; i <= lines; i++) {
        if (line[i] !~ /^Suites:/) continue
        fields = split(line[i], field, " ")
        for (j = 2; j <= fields; j++) if (field[j] in ok) keep = 1
      }
      if (keep) print
    }' "$file"
done >"$apt/sources/machine.sources"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ ! -e "$file" ] || awk -v want="$suites" '
    BEGIN { n = split(want, w); for (i = 1; i <= n; i++) ok[w[i]] = 1 }
    $1 == "deb" {
      i = 2
      if ($2 ~ /^\[/) { while (i < NF && $i !~ /\]$/) i++; i++ }
      if ($(i + 1) in ok) print
    }' "$file"
done >"$apt/sources.list"

# As root, since nobody else may look into the state directory; what is fetched is checked by its signatures.
get() {
  apt-get -qq -o Dir::State="$apt" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" \
    -o Dir::Cache::archives="$cache" -o Dir::Etc::sourcelist="$apt/sources.list" \
    -o Dir::Etc::sourceparts="$apt/sources" -o Dir::Etc::preferences="$apt/preferences" \
    -o Dir::Etc::preferencesparts=/dev/null -o APT::Install-Recommends=false -o APT::Sandbox::User=root \
    -o APT::Keep-Downloaded-Packages=true -o Acquire::Languages=none "$@"
}
get update
get install --yes --download-only '?essential' "$@"

# Which these are, since the cache may hold more.
get install --simulate '?essential' "$@" | awk '
  $1 == "Inst" {
    version = substr($3, 2)
    gsub(/:/, "%3a", version)
    match($0, /\[[a-z0-9-]+\]\)/)
    print $2 "_" version "_" substr($0, RSTART + 1, RLENGTH - 3) ".deb"
  }' >"$work/packages"
while read -r file; do
  ln "$cache/$file" "$work/debs/" 2>/dev/null || cp "$cache/$file" "$work/debs/"
done <"$work/packages"
chmod -R a+rX "$work/debs"
printf %s "$VERSION_CODENAME" >"$work/suite"
wc -l <"$work/packages" | tr -d ' \n' >"$work/count"

# What the template itself asks for packages: the same places, without anybody's password in them.
sed 's#://[^/@ ]*@#://#' "$apt/sources.list" >"$work/sources.list"
sed 's#://[^/@ ]*@#://#' "$apt/sources/machine.sources" >"$work/machine.sources"
