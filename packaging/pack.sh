#!/usr/bin/env bash
# Installs what Bazel has built into a folder, and packs that:
#
#   pack.sh TAR PREBUILT SOURCE...
set -euo pipefail
tar=$1 prebuilt=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -L --parents "${@:3}" "$work"  # CMake would install links as links
sources=$work
[[ -e $work/CMakeLists.txt ]] || sources=$work/external/splitphase
{
  cmake -S "$sources" -B "$work/build" -DSPLITPHASE_PREBUILT="$PWD/$prebuilt" -DSPLITPHASE_COMMIT=none
  cmake --build "$work/build"
  cmake --install "$work/build" --prefix="$work/prefix"
} >"$work/said" 2>&1 || {
  cat "$work/said" >&2
  exit 1
}
rm "$work/prefix/share/splitphase/commit"
(cd "$work/prefix" && find . ! -type d -printf '%P\n' | LC_ALL=C sort) |
  tar -C "$work/prefix" --mtime=@0 --owner=0 --group=0 --numeric-owner -T - -cf "$tar"
