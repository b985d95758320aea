#!/usr/bin/env bash
# packaging/gdb.py: what gdb prints of pointers and arrays, of a program that has stopped.
set -euo pipefail
program=$1 printers=$2
command -v gdb >/dev/null || {
  echo "skipped: gdb is not installed (third_party/test_packages.txt)"
  exit 0
}
unset TEST_PREMATURE_EXIT_FILE
said=$(gdb --batch -nx -x "$printers" -ex 'set breakpoint pending on' -ex 'break stop_here' -ex run -ex up \
  -ex 'print element' -ex 'print cell' -ex 'print spread' -ex 'print elsewhere' -ex 'print null' \
  -ex 'print squares' -ex 'print cells' -ex 'print link' -ex 'print *no_array' "$program" 2>&1) || true
if [[ $said == *"ptrace"*"not permitted"* || $said == *"not permitted"*"ptrace"* ]]; then
  echo "skipped: gdb may not trace here"
  exit 0
fi

# prints TEXT: one of the lines ends so.
prints() {
  grep -qE -- "^\\\$[0-9]+ = $1\$" <<<"$said" || {
    printf 'FAILED: no line with %s in\n%s\n' "$1" "$said" >&2
    exit 1
  }
}
prints 'rank 0, offset [0-9]+ = 9'
prints 'rank 0, offset [0-9]+ = \{x = 7, y = 2.5\}'
prints 'rank 0, offset [0-9]+ = 4'
prints 'rank 6, offset 64'
prints 'null'
prints '5 elements in blocks of 1 on 1 processes = \{\[0\] = 0, \[1\] = 1, \[2\] = 4, \[3\] = 9, \[4\] = 16\}'
prints '4 elements in blocks of 4 on 1 processes = \{\[0\] = \{x = 0, y = 0\}, \[1\] = \{x = 7, y = 2.5\}.*'
# What has no end, and what is no array.
prints 'rank 0, offset [0-9]+ = \{x = 5, next = rank 0, offset [0-9]+\}'
prints '18446744073709551615 elements in blocks of 18446744073709551615 on 4294967295 processes'
echo "passed"
