#!/usr/bin/env bash
# Our round trips beside what is installed of UCX, GASNet-EX, Open MPI and MPICH, between two processes
# of this machine, each bound to a core: on one node 8 bytes, over TCP 8 B, 1 KiB and 64 KiB. They run
# in turn, several times, and the least of each counts, so that all of them see the same states of the
# machine.
#
#   benchmarks/rivals.sh [--only node|tcp] [--rounds N] [--bin FOLDER]
#
# FOLDER is a bazel-bin with //benchmarks:latency, //benchmarks:network and the launcher; without it
# they are built. Over TCP our provider is the one that the library chooses, or SPLITC_PROVIDER.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/mpi.sh"
source "$root/benchmarks/libraries.sh"
rounds=5
bin=""
only=""

while (($#)); do
  case $1 in
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd) || exit 2; shift 2 ;;
    --only) only=${2:?--only needs node or tcp} && shift 2 ;;
    *)
      sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /d'
      [[ $1 == --help ]] && exit 0 || exit 2
      ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "--rounds $rounds: not a number above 0" >&2; exit 2; }
[[ $only =~ ^(node|tcp|)$ ]] || { echo "--only $only: neither node nor tcp" >&2; exit 2; }

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //benchmarks:latency \
    //benchmarks:network
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

declare -A title=(
  [ours]="Splitphase, request + reply"
  [ucx]="UCX, ucx_perftest -x posix -t am_lat, twice"
  [gasnet]="GASNet-EX, smp, short request + reply"
  [open_mpi]="Open MPI, MPI_Send + MPI_Recv"
  [ours_tcp]="Splitphase, request + reply"
  [open_mpi_tcp]="Open MPI, MPI_Send + MPI_Recv, btl tcp"
  [mpich_tcp]="MPICH, MPI_Send + MPI_Recv, UCX tcp"
  [limit]="by hand, in turn with ours"
)

# Each contender prints one round trip of BYTES in ns, its least in this turn, or nothing.

# figures NAME BYTES CSV: the figure, and the limit that was measured in turn with it aside.
figures() {
  awk -F, -v name="$1:limit" -v bytes="$2" '$1 == name && $3 == bytes { print $4 }' "$3" \
    >>"$work/limit"
  awk -F, -v name="$1" -v bytes="$2" '$1 == name && $3 == bytes { print $4 }' "$3"
}

ours() {
  "$bin/tools/splitcrun/splitcrun" -n 2 --bind core --timeout 60 \
    "$bin/benchmarks/latency" --csv --only short --reps 200 >"$work/csv"
  figures short_round_trip 8 "$work/csv"
}

ours_tcp() {
  local kind=short
  ((bytes < 512)) || kind=medium
  ((bytes < 65536)) || kind=long
  "$bin/tools/splitcrun/splitcrun" -n 2 --nodes 2 --bind core --timeout 60 \
    "$bin/benchmarks/network" --csv --only $kind --reps 200 >"$work/csv"
  figures ${kind}_round_trip "$bytes" "$work/csv"
}

ucx() { on_ucx "$bytes" 100000; }
gasnet() { on_gasnet am 2000; }

# run_open_mpi REPS [OPTION]...
run_open_mpi() {
  local reps=$1
  shift
  local options=(-n 2 --bind-to core "$@")
  ((EUID != 0)) || options+=(--allow-run-as-root)
  timeout 60 "$open_mpi_run" "${options[@]}" "$work/open_mpi_program" "$reps" "$bytes" \
    2>/dev/null | awk '{ print $1 }' || true
}
open_mpi() { run_open_mpi 2000; }
open_mpi_tcp() { run_open_mpi 200 "${open_mpi_over_tcp[@]}"; }

mpich_tcp() {
  env "${mpich_over_tcp[@]}" timeout 60 mpiexec.hydra -n 2 \
    -bind-to core "$work/mpich_program" 200 "$bytes" 2>/dev/null | awk '{ print $1 }' || true
}

node_contenders=(ours)
tcp_contenders=(ours_tcp)
! find_ucx || node_contenders+=(ucx)
! find_gasnet || node_contenders+=(gasnet)
find_mpis "$root/benchmarks/rivals/mpi_ping_pong.c"
for mpi in "${mpis[@]}"; do tcp_contenders+=("${mpi}_tcp"); done
[[ " ${mpis[*]} " != *" open_mpi "* ]] || node_contenders+=(open_mpi)

# minimum NAME, median NAME: of the rounds.
minimum() { sort -g "$work/$1" | head -n 1; }
median() { sort -g "$work/$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

# contest TITLE BYTES CONTENDER...: ours is the first.
contest() {
  local heading=$1 bytes=$2
  shift 2
  local contender least
  rm -f "$work/limit" "${@/#/$work/}"
  for ((round = 0; round < rounds; ++round)); do
    for contender; do "$contender" >>"$work/$contender"; done
  done
  printf '\n%s, %s bytes there and back, %s rounds\n' "$heading" "$bytes" "$rounds"
  printf '%-44s %10s %10s %12s\n' "" "least ns" "median ns" "least / ours"
  least=$(minimum "$1")
  for contender in "$@" limit; do
    if [[ ! -s $work/$contender ]]; then
      printf '%-44s gave no figure\n' "${title[$contender]}"
      continue
    fi
    awk -v name="${title[$contender]}" -v least="$(minimum "$contender")" \
      -v median="$(median "$contender")" -v ours="${least:-nan}" \
      'BEGIN { printf "%-44s %10.1f %10.1f %12.2f\n", name, least, median, least / ours }'
  done
}

[[ $only == tcp ]] || contest "one node" 8 "${node_contenders[@]}"
if [[ $only != node ]]; then
  for bytes in 8 1024 65536; do contest "TCP" "$bytes" "${tcp_contenders[@]}"; done
fi
