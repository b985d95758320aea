#!/usr/bin/env bash
# Our collective calls beside those of Open MPI and MPICH, whichever are installed, in microseconds:
# on one node, and with a node for each process over TCP. They run in turn, several rounds, and the
# least of each counts.
#
#   benchmarks/collectives.sh [--only node|tcp] [--processes "2 4 8"] [--rounds N] [--csv]
#                             [--bin FOLDER] [--quick]
#
# --bin is a bazel-bin with //benchmarks:collectives and the launcher; without it they are built.
# --csv: one line a figure. --quick: little work, to see that it runs. MPICH is left out where there are more processes than
# cores, as its processes do not give them up. Of broadcast_fixed the root stays, of broadcast it
# changes every time.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/mpi.sh"
only=""
processes="2 4 8"
rounds=3
reps=10
bin=""
quick=""
csv=""

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'; }

while (($#)); do
  case $1 in
    --only) only=${2:?--only needs node or tcp} && shift 2 ;;
    --processes) processes=${2:?--processes needs numbers} && shift 2 ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd) || exit 2; shift 2 ;;
    --csv) csv=yes && shift ;;
    --quick) quick=--quick reps=1 && shift ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "--rounds $rounds: not a number above 0" >&2; exit 2; }
[[ $only =~ ^(node|tcp|)$ ]] || { echo "--only $only: neither node nor tcp" >&2; exit 2; }
[[ $processes =~ ^[1-9][0-9]*(\ [1-9][0-9]*)*$ ]] || {
  echo "--processes $processes: not numbers above 0" >&2
  exit 2
}

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //benchmarks:collectives
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each contender prints NAME,BYTES,NS lines of a job of $count processes, `where` being node or tcp.
ours() {
  local nodes=1
  [[ $where == node ]] || nodes=$count
  "$bin/tools/splitcrun/splitcrun" -n "$count" --nodes "$nodes" --timeout 300 \
    "$bin/benchmarks/collectives" --csv --reps "$reps" $quick |
    awk -F, '$5 == "ns" { print $1 "," $3 "," $4 }'
}
open_mpi() {
  local options=(-n "$count" --oversubscribe)
  ((EUID != 0)) || options+=(--allow-run-as-root)
  [[ $where == node ]] || options+=("${open_mpi_over_tcp[@]}")
  timeout "${seconds:-300}" "$open_mpi_run" "${options[@]}" "$work/open_mpi_program" "$reps" 2>/dev/null || true
}
mpich() {
  ((count <= $(nproc))) || return 0
  local settings=()
  [[ $where == node ]] || settings=("${mpich_over_tcp[@]}")
  env "${settings[@]}" timeout "${seconds:-300}" mpiexec.hydra -n "$count" "$work/mpich_program" "$reps" \
    2>/dev/null || true
}

find_mpis "$root/benchmarks/rivals/mpi_collectives.c" >"$work/missing"
if [[ -z $csv ]]; then
  cat "$work/missing"
else
  cat "$work/missing" >&2
  echo "processes,place,who,name,bytes,ns"
fi
contenders=(ours "${mpis[@]}")

for where in node tcp; do
  [[ -z $only || $only == "$where" ]] || continue
  for count in $processes; do
    for ((round = 0; round < rounds; ++round)); do
      for contender in "${contenders[@]}"; do "$contender" | sed "s/^/$contender,/"; done
    done | awk -F, -v csv="$csv" -v where="$where" -v count="$count" -v names="${contenders[*]}" '
      { key = $2 " " $3; if (!(key in seen)) { seen[key] = ++keys; name[keys] = key }
        if (!(($1, key) in least) || $4 < least[$1, key]) least[$1, key] = $4 }
      END {
        n = split(names, contender, " ")
        if (csv) {
          for (k = 1; k <= keys; ++k) {
            split(name[k], part, " ")
            for (i = 1; i <= n; ++i) {
              if ((contender[i], name[k]) in least) {
                printf "%s,%s,%s,%s,%s,%.1f\n", count, where, contender[i], part[1], part[2],
                  least[contender[i], name[k]]
              }
            }
          }
          exit
        }
        printf "\n%s processes, %s\n%-18s %8s", count,
          where == "node" ? "one node" : "a node each, TCP", "us, least", "bytes"
        for (i = 1; i <= n; ++i) printf " %10s", contender[i]
        print ""
        for (k = 1; k <= keys; ++k) {
          split(name[k], part, " ")
          printf "%-18s %8d", part[1], part[2]
          for (i = 1; i <= n; ++i) {
            if ((contender[i], name[k]) in least) {
              printf " %10.1f", least[contender[i], name[k]] / 1000
            } else {
              printf " %10s", "-"
            }
          }
          print ""
        }
      }'
  done
done
