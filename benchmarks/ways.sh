#!/usr/bin/env bash
# One table of what stores and gets cost by the four ways that Split-C has been built (docs/transports.md),
# in nanoseconds, and another of whole applications. All between two processes of this machine; all ways
# run in turn, several rounds, and of each the best counts.
#
#   benchmarks/ways.sh [--applications] [--rounds N] [--repetitions N] [--csv] [--bin FOLDER] [--quick]
#
# --applications: EM3D, sorts, Jacobi, matrix multiplication, each in its fastest versions.
# --repetitions: of each application in a round. FOLDER is a bazel-bin with the programs and the
# launcher; without it they are built. --csv: one line a figure. --quick: little work, to see that it runs.
# A run that does not end in 30 s is lost, which standard error says; its figure is of the other rounds.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/applications_mpi/programs.sh"
ways=(messages specialised datagram memory)
applications="" rounds=3 many="" bin="" quick="" csv=0

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'; }

while (($#)); do
  case $1 in
    --applications) applications=yes && shift ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --repetitions) many=${2:?--repetitions needs a number} && shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd); shift 2 ;;
    --csv) csv=1 && shift ;;
    --quick) quick=--quick && shift ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
for number in $rounds $many; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "$number: not a number above 0" >&2; exit 2; }
done

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //benchmarks:ways \
    //examples:{em3d,key_sort,jacobi3d,matmul}
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi

# What programs.sh wants to know: two processes, which the way puts on a node or on two.
procs=2 nodes=1 bind=core
set_sizes "$quick"
repetitions=${many:-$repetitions} key_repetitions=${many:-$key_repetitions}
(($(nproc) >= procs)) || bind=none
matrix=$([[ $quick ]] && echo 16 || echo 256)

ours_matmul() {
  splitphase matmul --size "$matrix" --repetitions "$repetitions" |
    awk '$2 ~ /^[0-9.]+$/ && $5 ~ /^[0-9a-f]+$/ { printf "%s,%.4f,%s\n", $1, 1000 * $2, $5 }'
}
title[matmul]="matmul" unit[matmul]="ms" better[matmul]=less

# too_slow WAY WHAT: whether what has just failed was ended because it took too long; says so.
too_slow() {
  (($? == 124)) || return
  echo "$2 by $1: did not end in $seconds s, the run is lost" >&2
  echo "ours $1: slow" >&2
}

# one_round WAY: lines of "WAY,WHAT,BYTES,UNIT,BETTER,VALUE".
one_round() {
  if [[ -z $applications ]]; then
    splitphase ../benchmarks/ways --csv $quick |
      awk -F, -v way="$1" '$5 == "ns" && $2 == "way" { print way "," $1 "," $3 ",ns,less," $4 }' ||
      too_slow "$1" operations
    return
  fi
  local program
  for program in em3d sample_sort radix_sort jacobi3d matmul; do
    "ours_$program" |
      awk -F, -v to="$1,${title[$program]}" -v as="${unit[$program]},${better[$program]}" '
        { print to " " $1 ",0," as "," $2 }' || too_slow "$1" "${title[$program]}"
  done
}

for ((round = 0; round < rounds; ++round)); do
  for way in "${ways[@]}"; do SPLITC_WAY=$way one_round "$way"; done
done | awk -F, -v csv="$csv" -v ways="${ways[*]}" '
  { key = $2 "," $3 "," $4; if (!(key in seen)) { seen[key] = ++count; keys[count] = key }
    if (!(($1, key) in best) || ($5 == "less" ? $6 < best[$1, key] : $6 > best[$1, key])) best[$1, key] = $6 }
  END {
    n = split(ways, way, " ")
    if (csv) print "operation,bytes,way,unit,value"; else { printf "%-30s %6s %-15s", "", "bytes", ""
      for (i = 1; i <= n; ++i) printf " %12s", way[i]; print "" }
    for (k = 1; k <= count; ++k) {
      split(keys[k], part, ",")
      if (!csv) printf "%-30s %6s %-15s", part[1], part[2] ? part[2] : "", part[3]
      for (i = 1; i <= n; ++i) {
        value = best[way[i], keys[k]]
        if (!csv) printf value == "" ? " %12s" : " %12.2f", value == "" ? "slow" : value
        else if (value != "") print part[1] "," part[2] "," way[i] "," part[3] "," value
      }
      if (!csv) print ""
    }
  }'
