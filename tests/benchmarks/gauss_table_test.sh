#!/usr/bin/env bash
# Runs gauss_table.sh with little work and looks at what it writes, not at how fast it was. MPI is
# in it where it is installed, and must find the same unknowns; the plot where gnuplot is.
#
#   gauss_table_test.sh SCRIPT SPLITCRUN NODES
set -euo pipefail
source "$(dirname "$0")/table_test.sh"
nodes=$3

"$script" --bin "$bin" --out "$out" --nodes "$nodes" --rounds 1 --sizes "12 20" --quick
((nodes == 1)) && name=gauss_node || name=gauss_tcp

grep -q "^  size   exchanges  *spin  *yield  *block" "$out/$name.txt" || fail "the table's heading"
awk -F, '
  NR == 1 { width = NF; next }
  NF != width || $1 != (NR == 2 ? 12 : 20) { print "fields: " $0; bad = 1; next }
  # The first three are ours. MPI does not run in every sandbox.
  { for (i = 2; i <= NF; i += 3) {
      if (i > 10 && $i == "-") continue
      if ($i != $2 || $(i + 1) <= 0) { print "counts: " $0; bad = 1 }
    } }
  END { if (NR != 3 || width < 10) { print NR - 1 " sizes, " width " columns"; bad = 1 }; exit bad }
' "$out/$name.csv" >&2 || fail "the CSV"
! command -v gnuplot >/dev/null || grep -q "</svg>" "$out/$name.svg" || fail "the plot"

for wrong in "--nodes 3" "--rounds none" "--sizes ten" "--nonsense"; do
  if "$script" $wrong 2>/dev/null >&2; then fail "$wrong was accepted"; fi
done
