#!/usr/bin/env bash
# The applications of examples/ between two processes, on one node and on two, with every way of
# communicating and for several sizes of what each process has. The ways run in turn, several times,
# and the fastest of each counts, so that all of them see the same states of the machine.
#
#   benchmarks/applications.sh [--only NAME] [--rounds N] [--csv] [--bin FOLDER]
#
# NAME is an application. FOLDER is a bazel-bin with the applications and the launcher; without it
# they are built. Between nodes the provider is the one that the library chooses, or SPLITC_PROVIDER.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rounds=3
repetitions=30  # short ones, of which some run undisturbed
only=""
csv=""
bin=""

while (($#)); do
  case $1 in
    --only) only=${2:?--only needs the name of an application} && shift 2 ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --csv) csv=yes && shift ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd) && shift 2 ;;
    *)
      sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /d'
      [[ $1 == --help ]] && exit 0 || exit 2
      ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "--rounds $rounds: not a number above 0" >&2; exit 2; }

# What runs, from the finest grain to the coarsest: the application, its options, iterations.
# A grid of 1x1x2 cuts a cube where no two points of a face are neighbours in memory, 2x1x1 where all
# are. Matrices on 1x2x1 send columns, on 1x1x2 summands.
runs=(
  "jacobi3d --size 8 --grid 1x1x2:200"
  "jacobi3d --size 16 --grid 1x1x2:100"
  "jacobi3d --size 32 --grid 1x1x2:50"
  "jacobi3d --size 64 --grid 1x1x2:10"
  "jacobi3d --size 128 --grid 1x1x2:3"
  "jacobi3d --size 8 --grid 2x1x1:200"
  "jacobi3d --size 16 --grid 2x1x1:100"
  "jacobi3d --size 32 --grid 2x1x1:50"
  "jacobi3d --size 64 --grid 2x1x1:10"
  "jacobi3d --size 128 --grid 2x1x1:3"
  "matmul3d --size 8 --grid 1x2x1:200"
  "matmul3d --size 16 --grid 1x2x1:200"
  "matmul3d --size 32 --grid 1x2x1:100"
  "matmul3d --size 64 --grid 1x2x1:30"
  "matmul3d --size 128 --grid 1x2x1:5"
  "matmul3d --size 32 --grid 1x1x2:100"
  "matmul3d --size 128 --grid 1x1x2:5"
  "pair_calculator --states 8 --points 16:100"
  "pair_calculator --states 8 --points 128:30"
  "pair_calculator --states 8 --points 1024:5"
  "pipeline --points 16:500"
  "pipeline --points 128:500"
  "pipeline --points 1024:200"
  "pipeline --points 8192:30"
)
names=$(printf '%s\n' "${runs[@]%% *}" | sort -u)
if [[ -n $only ]] && ! grep -qxF -e "$only" <<<"$names"; then
  echo "--only $only: not one of" $names >&2
  exit 2
fi

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //am/job/launcher:splitcrun \
    $(sed 's,^,//examples:,' <<<"$names")
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# turns NODES RUN: every way's time of an iteration in microseconds, least of all rounds, in $work.
turns() {
  local options=${2%:*} iterations=${2##*:}
  rm -f "$work"/*
  for ((round = 0; round < rounds; ++round)); do
    # The options are words.
    "$bin/am/job/launcher/splitcrun" -n 2 --nodes "$1" --bind core --timeout 120 \
      "$bin/examples/"$options --iterations "$iterations" --repetitions "$repetitions" >"$work/out"
    awk -v work="$work" '/^(messages|stores|channels) / { print $2 >>(work "/" $1) }' "$work/out"
  done
}
least() { sort -g "$work/$1" | head -n 1; }

if [[ -n $csv ]]; then
  echo "application,nodes,messages_us,stores_us,channels_us"
else
  printf 'us an iteration, the least of %s rounds of %s repetitions in turn\n\n' \
    "$rounds" "$repetitions"
  printf '%-40s %5s %10s %10s %10s %20s\n' "2 processes" nodes messages stores channels \
    "messages / channels"
fi
for nodes in 1 2; do
  for run in "${runs[@]}"; do
    [[ -z $only || ${run%% *} == "$only" ]] || continue
    turns "$nodes" "$run"
    awk -v run="${run%:*}" -v nodes="$nodes" -v csv="$csv" -v m="$(least messages)" \
      -v s="$(least stores)" -v c="$(least channels)" 'BEGIN {
        if (csv != "") printf "%s,%d,%s,%s,%s\n", run, nodes, m, s, c
        else printf "%-40s %5d %10.2f %10.2f %10.2f %20.2f\n", run, nodes, m, s, c, m / c
      }'
  done
done
