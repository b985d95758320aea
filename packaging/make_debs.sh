#!/usr/bin/env bash
# Makes Debian packages of what is installed, and prints their names.
#
#   make_debs.sh PREFIX_TAR FOLDER [COMMIT]
set -euo pipefail
umask 022  # what is in a package everybody may read
tar=$1 output=$2 commit=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
all=$work/all
mkdir "$all"
tar -C "$all" -mxf "$tar"
if [[ -n $commit ]]; then
  mkdir -p "$all/share/splitphase"
  echo "$commit" >"$all/share/splitphase/commit"
fi
architecture=$(dpkg --print-architecture)
version=$(sed -n 's/^Version: //p' "$all/lib/pkgconfig/splitphase-am.pc")
build=$(grep -oE '(checked|release) build' "$all/lib/pkgconfig/splitphase-am.pc")

# owner_of LIBRARY: the Debian package that has it.
owner_of() {
  # Under /lib or /usr/lib: the folders are one, and dpkg knows one of the two names.
  { dpkg-query -S "$(readlink -f "$1")" "/usr/lib${1#*/lib}" "$1" 2>/dev/null || true; } |
    sed -n '1s/:.*//p'
}

# packages_of FILE...: Debian's packages with the shared libraries that they need, "a, b".
packages_of() {
  local libraries library owner owners=""
  libraries=$(ldd "$@" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u)
  for library in $libraries; do
    [[ $library != */libsplitphase* ]] || continue
    owner=$(owner_of "$library")
    if [[ -z $owner ]]; then
      echo "make_debs.sh: $library, which $* needs, is of no Debian package; install the one that" \
        "has it, and build again" >&2
      return 1
    fi
    owners+=$owner$'\n'
  done
  printf '%s' "$owners" | sort -u | paste -sd, | sed 's/,/, /g'
}

# package NAME SECTION DEPENDS DESCRIPTION FILE...: of these files of the installation.
package() {
  local name=$1 place=$work/$1 file
  for file in "${@:5}"; do
    mkdir -p "$place/usr/${file%/*}"
    cp -a "$all/$file" "$place/usr/$file"
  done
  mkdir "$place/DEBIAN"
  cat >"$place/DEBIAN/control" <<END
Package: $name
Version: $version
Architecture: $architecture
Maintainer: ${DEBFULLNAME:-Splitphase} <${DEBEMAIL:-root@localhost}>
Section: $2
Priority: optional
Depends: $3
Installed-Size: $(du -sk --exclude=DEBIAN "$place" | cut -f 1)
Description: $4
 Splitphase brings together a Split-C global address space and Active
 Messages II, over shared memory and libfabric. This is the $build.
END
  local deb=$output/${name}_${version}_$architecture.deb
  dpkg-deb --root-owner-group --build "$place" "$deb" >/dev/null
  echo "$deb"
}

cd "$all"
shopt -s globstar nullglob
library=(lib/libsplitphase.so.0*)
gzip -n9 share/man/man1/*.1  # as Debian has manual pages
mapfile -t development < <(
  find include lib bin/splitc{++,c,2cc} share/man/man1/splitc{c,2cc}.1.gz share/doc/splitphase \
    ! -type d ! -name 'libsplitphase.so.0*'
)
library_needs=$(packages_of lib/libsplitphase.so.0)
tools=(bin/splitcrun bin/splitc-{doctor,info})
tools_need=$(packages_of "${tools[@]}")
# Recommended is what the library loads when a job needs it.
package libsplitphase0 libs "$library_needs
Recommends: libfabric1, libpmix2, libsodium23" \
  "global address space and Active Messages: shared library" "${library[@]}"
package libsplitphase-dev libdevel \
  "libsplitphase0 (= $version), g++, libfmt-dev, libspdlog-dev, python3" \
  "global address space and Active Messages: development files" "${development[@]}"
package splitphase-tools utils "$tools_need
Recommends: libfabric1, libhwloc15, python3" \
  "global address space and Active Messages: launcher and tools" \
  "${tools[@]}" bin/splitc-{timeline,traffic} share/**/splitcrun* share/splitphase/*
