#!/usr/bin/env bash
# A benchmark between two processes that is started alone says what to do, and measures nothing.
#
#   alone_test.sh PROGRAM
set -euo pipefail
unset TEST_PREMATURE_EXIT_FILE

if output=$("$1" 2>&1); then
  echo "FAILED: it succeeded: $output" >&2
  exit 1
fi
grep -q "start it with splitcrun -n 2" <<<"$output"
