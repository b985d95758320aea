#!/usr/bin/env bash
# Runs channel_table.sh with little work and looks at what it writes, not at how fast it was. MPI is
# in it where it is installed, the plot where gnuplot is.
#
#   channel_table_test.sh SCRIPT SPLITCRUN NODES
set -euo pipefail
source "$(dirname "$0")/table_test.sh"
nodes=$3

"$script" --bin "$bin" --out "$out" --nodes "$nodes" --rounds 1 --quick
((nodes == 1)) && name=channel_node || name=channel_tcp

grep -q "^thousand bytes .* 0.1 .* 500$" "$out/$name.txt" || fail "the table has no sizes"
grep -q "^channel  *[0-9]" "$out/$name.txt" || fail "the table has no channel"
awk -F, '
  NR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    wanted = "bytes message bulk_store channel raw channel_over_raw best_mpi_over_channel"
    for (i = split(wanted, names, " "); i > 0; --i) {
      if (!(names[i] in column)) { print "no column " names[i]; bad = 1 }
    }
    width = NF
    next
  }
  NF != width || $1 !~ /^[0-9]+$/ { print "fields: " $0; bad = 1; next }
  $column["channel"] + 0 <= 0 || $column["raw"] + 0 <= 0 { print "not positive: " $0; bad = 1 }
  END { if (NR != 11) { print NR - 1 " sizes"; bad = 1 }; exit bad }
' "$out/$name.csv" >&2 || fail "the CSV"
! command -v gnuplot >/dev/null || grep -q "</svg>" "$out/$name.svg" || fail "the plot"

for wrong in "--nodes 3" "--rounds none" "--nonsense"; do
  if "$script" $wrong 2>/dev/null >&2; then fail "$wrong was accepted"; fi
done
