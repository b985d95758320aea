#!/usr/bin/env bash
# The table of the CkDirect paper: round trip times of 0.1 to 500 thousand bytes between two
# processes of this machine, each bound to a core, by every way that the library has, by hand, and
# by what is installed of Open MPI and MPICH (compiled from benchmarks/rivals/mpi_put.c). All run in
# turn, several rounds, and the least of each counts. Writes channel_node.txt, .csv and, with
# gnuplot, .svg; with --nodes 2, where everything goes over TCP, channel_tcp.txt and so on.
#
#   benchmarks/channel_table.sh [--nodes 2] [--rounds N] [--sizes "BYTES..."] [--out FOLDER]
#                               [--bin FOLDER] [--quick]
#
# --out is where the files go, by default the current folder. --bin is a bazel-bin with
# //benchmarks:channel_pingpong and the launcher; without it they are built. Over TCP our provider
# is the one that the library chooses, or SPLITC_PROVIDER. --quick: little work, to see that it
# runs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/mpi.sh"
all_sizes=(100 1000 5000 10000 20000 30000 40000 70000 100000 500000)
sizes=("${all_sizes[@]}")
nodes=1
rounds=5
out=$PWD
bin=""
quick=""

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'; }

while (($#)); do
  case $1 in
    --nodes) nodes=${2:?--nodes needs 1 or 2} && shift 2 ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --sizes) read -ra sizes <<<"${2:?--sizes needs some of ${all_sizes[*]}}" && shift 2 ;;
    --out) out=$(cd "${2:?--out needs a folder}" && pwd); shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd); shift 2 ;;
    --quick) quick=--quick && shift ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "--rounds $rounds: not a number above 0" >&2; exit 2; }
for size in "${sizes[@]}"; do
  [[ " ${all_sizes[*]} " == *" $size "* ]] || { echo "--sizes $size: not one of ${all_sizes[*]}" >&2; exit 2; }
done
[[ $nodes =~ ^[12]$ ]] || { echo "--nodes $nodes: neither 1 nor 2" >&2; exit 2; }

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun \
    //benchmarks:channel_pingpong
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What MPI is told: as many round trips in a sample as our program makes, as many samples; windows
# that MPI keeps in shared memory where it can; over TCP, that it may use nothing else.
iterations=1000 samples=50 windows=(shared apart) place=node title="on one node"
open_mpi_options=(--bind-to core)
mpich_environment=()
if ((nodes == 2)); then
  iterations=50 samples=60 windows=(apart) place=tcp title="over TCP"
  open_mpi_options+=("${open_mpi_over_tcp[@]}")
  mpich_environment=("${mpich_over_tcp[@]}")
fi
((EUID != 0)) || open_mpi_options+=(--allow-run-as-root)
seconds=120  # that one program may take
[[ -z $quick ]] || iterations=2 samples=1 seconds=15

# Each contender appends to $work/figures a line WAY,BYTES,NS for each of its ways and sizes. One
# that takes too long leaves what it had until then.

splitphase() {
  local which=() size  # also by zero-copy buffers if all sizes are asked for
  if ((${#sizes[@]} < ${#all_sizes[@]})); then for size in "${sizes[@]}"; do which+=(--only "$size"); done; fi
  "$bin/tools/splitcrun/splitcrun" -n 2 --nodes "$nodes" --bind core --timeout $((2 * seconds)) \
    "$bin/benchmarks/channel_pingpong" --csv "${which[@]}" $quick >"$work/csv"
  awk -F, '$1 !~ /:|^line_|^benchmark$/ { print $1 "," $3 "," $4 }' "$work/csv" >>"$work/figures"
  awk -F, '/^line_round_trip/ { print $4 }' "$work/csv" >>"$work/lines"
}

# add LIBRARY WINDOW: what mpi_put prints. Of a window that is not shared the puts count alone, and
# have its name.
add() {
  awk -F, -v library="$1" -v window="$2" -v place="$place" '
    NF != 3 { next }
    place == "node" && window == "apart" { if ($1 !~ /^put/) next; sub(/put/, "put_apart", $1) }
    { print library "_" $1 "," $2 "," $3 }' >>"$work/figures"
}

open_mpi() {
  local window ways
  for window in "${windows[@]}"; do
    # In shared windows of Open MPI 4.1 MPI_MODE_NOCHECK never returns.
    [[ $window == shared ]] && ways=3 || ways=4
    timeout $seconds "$open_mpi_run" -n 2 "${open_mpi_options[@]}" \
      "$work/open_mpi_program" "$window" $ways \
      $iterations $samples "${sizes[@]}" 2>/dev/null | add open_mpi "$window" || true
  done
}

mpich() {
  local window
  for window in "${windows[@]}"; do
    timeout $seconds env "${mpich_environment[@]}" mpiexec.hydra -n 2 -bind-to core \
      "$work/mpich_program" \
      "$window" 4 $iterations $samples "${sizes[@]}" 2>/dev/null | add mpich "$window" || true
  done
}

# with_limits MPI: with the size up to which it sends at once as it is installed, and without that limit.
with_limits() {
  "$1"
  mpi_asks_first "${sizes[-1]}" || return 0
  local open_mpi_options=("${open_mpi_options[@]}") mpich_environment=("${mpich_environment[@]}")
  mpi_sends_eagerly
  "$1"
}

find_mpis "$root/benchmarks/rivals/mpi_put.c"

touch "$work/figures" "$work/lines"
for ((round = 0; round < rounds; ++round)); do
  splitphase
  for mpi in "${mpis[@]}"; do with_limits "$mpi"; done
done

name=channel_$place
{
  echo "Round trip $title, us: the least of $rounds rounds, all in turn"
  if [[ -s $work/lines ]]; then
    echo "One cache line takes $(sort -g "$work/lines" | sed -n '1p;$p' | xargs printf '%.0f ' |
      sed 's/ / to /; s/ $//') ns there and back between these cores"
  fi
  awk -F, -v csv="$out/$name.csv" -f "$root/benchmarks/channel_table.awk" "$work/figures"
} | tee "$out/$name.txt"

if command -v gnuplot >/dev/null; then
  gnuplot -e "data='$out/$name.csv'; picture='$out/$name.svg'; place='$title'" \
    "$root/benchmarks/channel_table.gnuplot"
  echo "written: $out/$name.txt, .csv, .svg"
else
  echo "written: $out/$name.txt, .csv; no plot, for gnuplot is not installed (gnuplot-nox)"
fi
