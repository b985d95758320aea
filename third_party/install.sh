#!/usr/bin/env bash
# Installs the packages of packages.txt, and those given as arguments, that this machine lacks.
# Asks apt for nothing when all are there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

mapfile -t wanted < <(grep -v '^#' packages.txt)
missing=()
for package in "${wanted[@]}" "$@"; do
  [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] ||
    missing+=("$package")
done
((${#missing[@]})) || exit 0

if ! command -v apt-get >/dev/null; then
  echo "This build finds its tools in Debian's packages, and there is no apt-get here." \
    "It lacks: ${missing[*]}" >&2
  exit 1
fi
install=(apt-get install -y --no-install-recommends "${missing[@]}")
as_root=(env DEBIAN_FRONTEND=noninteractive)
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    printf 'Packages are missing. As root, type:\n  apt-get update && %s\n' "${install[*]}" >&2
    exit 1
  fi
  as_root=(sudo "${as_root[@]}")
fi
echo "Installing ${missing[*]}" >&2
{
  "${as_root[@]}" apt-get update
  "${as_root[@]}" "${install[@]}"
} >&2
