#!/usr/bin/env bash
# For ./measure: what is installed of other libraries, between two processes. Prints lines
# WHO,SETTING,BYTES,NS, the least of REPETITIONS, or of fewer of large sizes.
#
#   benchmarks/measure/ping_pong.sh node|tcp REPETITIONS BYTES...   there and back: Open MPI and MPICH, with
#                                                                   each setting that matters for the size;
#                                                                   on one node 8 bytes also UCX and GASNet
#   benchmarks/measure/ping_pong.sh read REPETITIONS                a word of the other process: GASNet
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/benchmarks/mpi.sh"
source "$root/benchmarks/libraries.sh"
place=${1:?node, tcp or read} repetitions=${2:?how many} && shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# figure WHO SETTING BYTES NS: a line, unless there is no figure.
figure() { [[ ! ${4:-} =~ ^[0-9.]+$ ]] || echo "$1,$2,$3,$4"; }

if [[ $place == read ]]; then
  ! find_gasnet >&2 || figure gasnet default 8 "$(on_gasnet get "$repetitions")"
  exit
fi
nodes=$([[ $place == node ]] && echo 1 || echo 2)
mpi_settings 2 "$nodes"
if [[ $place == node && " $* " == *" 8 "* ]]; then
  ! find_ucx >&2 || figure ucx posix 8 "$(on_ucx 8 $((repetitions * 200)))"
  ! find_gasnet >&2 || figure gasnet default 8 "$(on_gasnet am "$repetitions")"
fi
find_mpis "$root/benchmarks/rivals/mpi_ping_pong.c" >&2
for mpi in "${mpis[@]}"; do
  for setting in $(settings_of "$mpi" "$nodes"); do
    sizes=()
    for bytes; do ! setting_matters "$setting" "$bytes" || sizes+=("$bytes"); done
    ((${#sizes[@]})) || continue
    mpi_settings 2 "$nodes" "$setting"
    on "$mpi" "$repetitions" "${sizes[@]}" | sed -n "s/^\([0-9]*\) \([0-9.]*\)$/$mpi,$setting,\1,\2/p"
  done
done
