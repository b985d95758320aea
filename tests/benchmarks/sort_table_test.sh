#!/usr/bin/env bash
# Runs sort_table.sh with few keys and looks at what it prints, not at how fast it was. MPI is in it
# where it is installed, and must give the same order.
#
#   sort_table_test.sh SCRIPT SPLITCRUN
set -euo pipefail
source "$(dirname "$0")/table_test.sh"

# rows SHAPE KINDS: `script` with these options prints as many lines for each of so many kinds of keys.
rows() {
  "$script" --bin "$bin" $1 --rounds 1 --repetitions 1 --csv >"$out/csv"
  awk -F, -v kinds="$2" '
    $1 == "procs" { width = NF }
    !width || $1 == "procs" { next }  # what is left out, and why
    NF != width || $8 !~ /^[0-9.]+$/ { print "fields: " $0; bad = 1 }
    $6 == "ours" { ++ours }
    $6 != "ours" { ++theirs[$6] }
    END {
      if (ours != 8 * kinds) { print ours " rows of ours"; bad = 1 }
      for (who in theirs) if (theirs[who] != 2 * kinds) { print theirs[who] " rows of " who; bad = 1 }
      exit bad
    }' "$out/csv" >&2 || fail "$1: the CSV"
}
rows "--procs 1 --size 500" 1
rows "--procs 2 --size 3000 --keys all" 9
rows "--procs 2 --nodes 2 --size 1000 --keys duplicates" 1
rows "--procs 3 --size 1 --keys group" 1
"$script" --bin "$bin" --rounds 1 --size 1000 >"$out/text"
grep -q "^uniform  *sample ours  *bulk  *[0-9.]* million keys a second" "$out/text" || fail "the table"

for wrong in "--nodes 3" "--rounds none" "--size 0" "--keys magic" "--nonsense"; do
  if "$script" $wrong 2>/dev/null >&2; then fail "$wrong was accepted"; fi
done
