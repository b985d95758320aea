#!/usr/bin/env bash
# The headers, and the program in the first comment of am2.h, as C23 by every C compiler that is
# installed: there `void (*)()` is a function without parameters, to which no handler converts by
# itself.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sed -n 's,^//   ,,p' am/c/am2.h | sed -n '/^#include/,/^}/p' >"$folder/manual.c"
grep -q AM_SetHandler "$folder/manual.c" || {
  echo "FAILED: the manual's program sets no handler"
  exit 1
}

tried=0
for compiler in gcc gcc-{11..16} clang clang-{14..22}; do
  command -v "$compiler" >/dev/null || continue
  "$compiler" -std=c2x -Wall -Wextra -Werror -I. -fsyntax-only tests/am/c/headers.c "$folder/manual.c"
  echo "passed: $compiler"
  tried=$((tried + 1))
done
((tried > 0)) || echo "skipped: no C compiler is installed under a known name"
