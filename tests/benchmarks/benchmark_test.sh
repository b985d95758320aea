#!/usr/bin/env bash
# Runs a benchmark with little work and looks at what it prints, not at how fast it was.
#
#   benchmark_test.sh SPLITCRUN PROCESSES PROGRAM [NODES]
set -euo pipefail
splitcrun=$1
count=$2
program=$3
start=("$splitcrun" -n "$count" --nodes "${4:-1}")
# A file that only one process could remove.
unset TEST_PREMATURE_EXIT_FILE

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

csv=$("${start[@]}" "$program" --quick --csv)
awk -F, '
  NR == 1 { if ($0 != "benchmark,route,bytes,value,unit") { print "header: " $0; bad = 1 }; next }
  NF != 5 || $1 == "" || $2 == "" || $5 == "" { print "fields: " $0; bad = 1; next }
  $3 !~ /^[0-9]+$/ { print "bytes: " $0; bad = 1 }
  $4 !~ /^[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/ { print "value: " $0; bad = 1 }
  # Memory may be none of a kind; in LogP the latency is what the overheads leave.
  $4 + 0 <= 0 && $5 != "KiB" && $1 !~ /_L/ { print "not positive: " $0; bad = 1 }
  END { if (NR < 2) { print "no figures"; bad = 1 }; exit bad }
' <<<"$csv" >&2 || fail "the CSV of $program"

table=$("${start[@]}" "$program" --quick)
grep -q "It can measure:" <<<"$table" || fail "no list of measurements"
grep -q "^$count processes" <<<"$table" || fail "the number of processes is not told"

help=$("$program" --help)
grep -q -- "--only NAME" <<<"$help" || fail "--help does not tell of --only"
if "$program" --only nonsense 2>/dev/null; then fail "--only nonsense was accepted"; fi
echo "$(($(wc -l <<<"$csv") - 1)) figures"
