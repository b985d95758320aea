#!/usr/bin/env bash
# The table of the CkDirect paper: round trip times of 0.1 to 500 thousand bytes between two processes of
# this machine, each bound to a core, by every way that the library has, by hand, and by what is installed of
# Open MPI and MPICH (compiled from benchmarks/rivals/mpi_put.c), as installed and with the settings known to
# help them (mpi.sh). All run in turn, once. Prints lines WHO,WAY,SETTING,BYTES,NS, the least of its samples
# each.
#
#   benchmarks/channel_table.sh [--nodes 2] [--samples N] [--sizes "BYTES..."] [--bin FOLDER] [--quick]
#
# --nodes 2: everything goes over TCP; our provider is then the one that the library chooses, or
# SPLITC_PROVIDER. Zero-copy buffers are measured if all sizes are. --bin is a bazel-bin with
# //benchmarks:channel_pingpong and the launcher; without it they are built. --quick: little work, to see that
# it runs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/mpi.sh"
all_sizes=(100 1000 5000 10000 20000 30000 40000 70000 100000 500000)
sizes=("${all_sizes[@]}")
nodes=1
samples=""
bin=""
quick=""

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'; }

while (($#)); do
  case $1 in
    --nodes) nodes=${2:?--nodes needs 1 or 2} && shift 2 ;;
    --samples) samples=${2:?--samples needs a number} && shift 2 ;;
    --sizes) read -ra sizes <<<"${2:?--sizes needs some of ${all_sizes[*]}}" && shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd); shift 2 ;;
    --quick) quick=--quick && shift ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
for size in "${sizes[@]}"; do
  [[ " ${all_sizes[*]} " == *" $size "* ]] || { echo "--sizes $size: not one of ${all_sizes[*]}" >&2; exit 2; }
done
[[ $nodes =~ ^[12]$ ]] || { echo "--nodes $nodes: neither 1 nor 2" >&2; exit 2; }
# As many round trips in a sample, and samples, as our program makes; windows of MPI in shared memory where it
# can have them.
iterations=1000 windows=(shared apart) samples=${samples:-$((nodes == 1 ? 50 : 60))}
((nodes == 1)) || iterations=50 windows=(apart)
seconds=${seconds:-120}  # that one program may take
[[ -z $quick ]] || iterations=2 samples=1 seconds=15
[[ $samples =~ ^[1-9][0-9]*$ ]] || { echo "--samples $samples: not a number above 0" >&2; exit 2; }

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //benchmarks:channel_pingpong
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

splitphase() {
  local which=() size
  if ((${#sizes[@]} < ${#all_sizes[@]})); then for size in "${sizes[@]}"; do which+=(--only "$size"); done; fi
  "$bin/tools/splitcrun/splitcrun" -n 2 --nodes "$nodes" --bind core --timeout $((2 * seconds)) \
    "$bin/benchmarks/channel_pingpong" --csv --reps "$samples" "${which[@]}" $quick |
    awk -F, '$1 !~ /:|^line_|^benchmark$/ {
      print ($1 ~ /^raw/ ? "limit" : "ours") "," $1 ",default," $3 "," $4 }'
}

# Of a window that is not shared only the puts count, beside one that is, and have its name. In shared windows
# of Open MPI 4.1 MPI_MODE_NOCHECK never returns. On one node settings of messages leave the puts as they are.
one_mpi() {
  local window ways
  for window in "${windows[@]}"; do
    [[ $1,$window == open_mpi,shared ]] && ways=3 || ways=4
    [[ $mpi_setting == default || $nodes == 2 ]] || ways=2
    [[ $ways,$window != 2,apart ]] || continue
    on "$1" "$window" $ways $iterations "$samples" "${these[@]}" | awk -F, -v library="$1" \
      -v setting="$mpi_setting" -v also="$((nodes == 1))$window" '
      NF != 3 { next }
      also == "1apart" { if ($1 !~ /^put/) next; sub(/put/, "put_apart", $1) }
      { print library "," $1 "," setting "," $2 "," $3 }'
  done
}

find_mpis "$root/benchmarks/rivals/mpi_put.c" >&2
echo "who,way,setting,bytes,ns"
splitphase
for mpi in "${mpis[@]}"; do
  for setting in $(settings_of "$mpi" "$nodes"); do
    mpi_settings 2 "$nodes" "$setting"
    these=()
    for size in "${sizes[@]}"; do ! setting_matters "$setting" "$size" || these+=("$size"); done
    ((${#these[@]} == 0)) || one_mpi "$mpi"
  done
done
