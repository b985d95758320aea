#!/usr/bin/env bash
# Measures collective calls with little work, and looks at which figures there are, not at how fast it was.
#
#   collectives_table_test.sh COLLECTIVES_SH SPLITCRUN
set -euo pipefail
source "$(dirname "$0")/table_test.sh"

"$script" --bin "$bin" --processes "2 3" --quick >"$out/csv"
awk -F, '
  NR == 1 { if ($0 != "processes,place,who,setting,name,bytes,ns") { print "header: " $0; bad = 1 }; next }
  NF != 7 || $7 + 0 <= 0 { print "fields: " $0; bad = 1 }
  $3 == "ours" && $5 ~ /^(barrier|broadcast|reduce|scan|gather|all_gather|all_to_all|store_sync)/ {
    ++lines[$1 " processes, " $2]
  }
  END {
    for (place in lines) {
      ++places
      if (lines[place] != 33) { print place ": " lines[place] " lines of ours"; bad = 1 }
    }
    if (places != 4) { print places " places"; bad = 1 }
    exit bad
  }' "$out/csv" >&2 || fail "the figures"
for wrong in "--only moon" "--processes none" "--reps 0" "--nonsense"; do
  if "$script" $wrong 2>/dev/null >&2; then fail "$wrong was accepted"; fi
done
