#!/usr/bin/env bash
# bazel run //docs:api [-- DIRECTORY]
# Writes the reference of the public headers in HTML to DIRECTORY, or to api/ of the project. Fails if
# Doxygen warns of anything.
set -euo pipefail

if ! command -v doxygen >/dev/null; then
  echo "docs:api: Doxygen is not installed; install it by third_party/install.sh doxygen" >&2
  exit 1
fi
cd "${BUILD_WORKING_DIRECTORY:-.}"
project=${BUILD_WORKSPACE_DIRECTORY:?docs:api: start it by bazel run //docs:api}
output=$(realpath -m "${1:-$project/api}")
mkdir -p "$output"
cd "$project"
{
  cat docs/Doxyfile
  printf 'OUTPUT_DIRECTORY = "%s"\n' "$output"
} | doxygen -
echo "$output/html/index.html"
