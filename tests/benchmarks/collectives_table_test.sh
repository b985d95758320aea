#!/usr/bin/env bash
# Makes the table of collective calls with little work, and looks at its shape, not at the figures.
#
#   collectives_table_test.sh COLLECTIVES_SH SPLITCRUN
set -euo pipefail
source "$(dirname "$0")/table_test.sh"

table=$("$script" --bin "$bin" --processes "2 3" --rounds 1 --quick)
for heading in "2 processes, one node" "3 processes, one node" "2 processes, a node each, TCP" \
  "3 processes, a node each, TCP"; do
  grep -qxF "$heading" <<<"$table" || fail "no table '$heading': $table"
done
awk '$1 ~ /^(barrier|broadcast|reduce|scan|gather|all_gather|all_to_all|store_sync)/ {
       ++lines
       if ($3 + 0 <= 0) { print "ours: " $0; bad = 1 }
     }
     END { if (lines != 4 * 33) { print lines " lines"; bad = 1 }; exit bad }' <<<"$table" >&2 ||
  fail "the figures: $table"
