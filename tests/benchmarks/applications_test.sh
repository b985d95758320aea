#!/usr/bin/env bash
# Runs applications.sh with tiny problems and looks at what it prints, not at how fast it was.
#
#   applications_test.sh SCRIPT SPLITCRUN
set -euo pipefail
source "$(dirname "$0")/table_test.sh"

# Every program has its ways, the same ones on one node and on two.
"$script" --bin "$bin" --quick --csv >"$out/csv" || fail "the script"
awk -F, '
  NR == 1 {
    if ($0 != "host,date,version,compiler,program,options,nodes,way,value,unit,better") {
      print "header: " $0; bad = 1
    }
    next
  }
  NF != 11 || $9 <= 0 || $11 !~ /^(less|more)$/ { print "fields: " $0; bad = 1; next }
  $1 == "" || $2 !~ /^20..-..-..$/ || $3 !~ /build$/ || $4 !~ /[0-9]/ { print "origin: " $0; bad = 1 }
  { ++rows[$5, $7]; ++seen[$5, $6, $7, $8] }
  END {
    for (row in seen) if (seen[row] != 1) { print "twice: " row; bad = 1 }
    wanted = "jacobi3d 3 matmul3d 3 pair_calculator 3 pipeline 3 em3d 8 key_sort 8 matmul 4 fft 3 lu 1 " \
             "gauss 4 conjugate_gradient 3 gups 6 page_rank 1 components 1 image_components 1 " \
             "key_value 1 heat 1 unbalanced_tree 1 sample_sort 1 prk 17 bale 32"
    for (i = split(wanted, word, " "); i > 0; i -= 2) {
      for (nodes = 1; nodes <= 2; ++nodes) {
        all += word[i]
        if (rows[word[i - 1], nodes] != word[i]) {
          print word[i - 1] " has " rows[word[i - 1], nodes] + 0 " rows on " nodes " nodes"; bad = 1
        }
      }
    }
    if (all != NR - 1) { print NR - 1 - all " rows more than that"; bad = 1 }
    exit bad
  }' "$out/csv" >&2 || fail "the CSV"

# Programs of both kinds, for people.
"$script" --bin "$bin" --quick --only pipeline --rounds 2 >"$out/text"
[[ $(grep -c "^pipeline .* [12]  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9.]*$" "$out/text") == 2 ]] ||
  fail "the table of ways: $(<"$out/text")"
"$script" --bin "$bin" --quick --only gauss >"$out/text"
for search in none reduce rows each; do
  grep -q "^gauss --sizes 12  *$search  *[0-9.]*  *[0-9.]*  ms$" "$out/text" ||
    fail "the table of versions: $(<"$out/text")"
done
! grep -q pipeline "$out/text" || fail "a program that was not asked for"

# A program that fails ends it, and is named.
mkdir -p "$out/bin/tools/splitcrun" "$out/bin/examples"
printf '#!/bin/sh\nexit 7\n' >"$out/bin/tools/splitcrun/splitcrun"
printf '#!/bin/sh\n' >"$out/bin/examples/image_components"
chmod +x "$out/bin/tools/splitcrun/splitcrun" "$out/bin/examples"/*
if "$script" --bin "$out/bin" --quick --only heat >"$out/text" 2>&1; then
  fail "a program that fails was passed over"
fi
grep -q "^run_heat on 1 nodes failed" "$out/text" || fail "what failed is not said: $(<"$out/text")"

for wrong in "--only magic" "--rounds none" "--rounds 0" "--bin /no/such/folder" "--nonsense"; do
  if "$script" $wrong 2>/dev/null >&2; then fail "$wrong was accepted"; fi
done
