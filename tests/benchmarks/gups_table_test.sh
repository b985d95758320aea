#!/usr/bin/env bash
# Runs gups_table.sh with little work and looks at what it prints, not at how fast it was. MPI is in
# it where it is installed, and its tables must be right, too.
#
#   gups_table_test.sh SCRIPT SPLITCRUN
set -euo pipefail
source "$(dirname "$0")/table_test.sh"

for shape in "--procs 1" "--procs 2" "--procs 2 --nodes 2"; do
  "$script" --bin "$bin" $shape --rounds 1 --updates 3000 --slow 20 --csv >"$out/csv"
  awk -F, '
    $1 == "procs" { width = NF }
    !width || $1 == "procs" { next }  # what is left out, and why
    NF != width || $5 <= 0 { print "fields: " $0; bad = 1 }
    $3 == "ours" { ++ours }
    END { if (ours != 6) { print ours " styles of ours"; bad = 1 }; exit bad }
  ' "$out/csv" >&2 || fail "$shape: the CSV"
done
"$script" --bin "$bin" --rounds 1 --updates 1000 >"$out/text"
grep -q "^ours  *gather  *[0-9.]* million a second" "$out/text" || fail "the table"

for wrong in "--nodes 3" "--rounds none" "--updates 0" "--nonsense"; do
  if "$script" $wrong 2>/dev/null >&2; then fail "$wrong was accepted"; fi
done
