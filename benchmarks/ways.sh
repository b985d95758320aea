#!/usr/bin/env bash
# One table of what stores and gets cost by the four ways that Split-C has been built (docs/transports.md):
# nanoseconds each, between two processes of this machine. All ways run in turn, several rounds, and
# the least of each counts.
#
#   benchmarks/ways.sh [--rounds N] [--csv] [--bin FOLDER] [--quick]
#
# --bin is a bazel-bin with //benchmarks:ways and the launcher; without it they are built. --csv: one
# line a figure. --quick: little work, to see that it runs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ways=(messages specialised datagram memory)
rounds=3
bin=""
quick=""
csv=0

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'; }

while (($#)); do
  case $1 in
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd); shift 2 ;;
    --csv) csv=1 && shift ;;
    --quick) quick=--quick && shift ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "--rounds $rounds: not a number above 0" >&2; exit 2; }

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //benchmarks:ways
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi

for ((round = 0; round < rounds; ++round)); do
  for way in "${ways[@]}"; do
    SPLITC_WAY=$way "$bin/tools/splitcrun/splitcrun" -n 2 "$bin/benchmarks/ways" --csv $quick |
      awk -F, -v way="$way" '$5 == "ns" && $2 == "way" { print way "," $1 "," $3 "," $4 }'
  done
done | awk -F, -v csv="$csv" -v ways="${ways[*]}" '
  { key = $2 " " $3; if (!(key in seen)) { seen[key] = ++count; keys[count] = key }
    if (!(($1, key) in least) || $4 < least[$1, key]) least[$1, key] = $4 }
  END {
    n = split(ways, way, " ")
    if (csv) print "operation,bytes,way,ns"; else { printf "%-12s %6s", "", "bytes"
      for (i = 1; i <= n; ++i) printf " %12s", way[i]; print "" }
    for (k = 1; k <= count; ++k) {
      split(keys[k], part, " ")
      if (!csv) printf "%-12s %6d", part[1], part[2]
      for (i = 1; i <= n; ++i) {
        value = least[way[i], keys[k]]
        if (csv) print part[1] "," part[2] "," way[i] "," value
        else printf " %12.1f", value
      }
      if (!csv) print ""
    }
  }'
