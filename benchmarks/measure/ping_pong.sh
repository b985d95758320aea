#!/usr/bin/env bash
# For ./measure: what is installed of other libraries, between two processes. Prints lines WHO,BYTES,NS,
# the least of REPETITIONS.
#
#   benchmarks/measure/ping_pong.sh node|tcp REPETITIONS BYTES...   there and back: Open MPI and MPICH,
#                                                                   fewer repetitions of large ones, and
#                                                                   of these also without the limit for
#                                                                   what is sent at once; on one node 8
#                                                                   bytes also UCX and GASNet
#   benchmarks/measure/ping_pong.sh read REPETITIONS                a word of the other process: GASNet
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/benchmarks/mpi.sh"
source "$root/benchmarks/libraries.sh"
place=${1:?node, tcp or read} repetitions=${2:?how many} && shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# figure WHO BYTES NS: a line, unless there is no figure.
figure() { [[ ! ${3:-} =~ ^[0-9.]+$ ]] || echo "$1,$2,$3"; }

# Of 8 bytes within a node.
libraries() {
  ! find_ucx >&2 || figure ucx 8 "$(on_ucx 8 $((repetitions * 200)))"
  ! find_gasnet >&2 || figure gasnet 8 "$(on_gasnet am "$repetitions")"
}

if [[ $place == read ]]; then
  ! find_gasnet >&2 || figure gasnet 8 "$(on_gasnet get "$repetitions")"
  exit
fi
nodes=$([[ $place == node ]] && echo 1 || echo 2)
find_mpis "$root/benchmarks/rivals/mpi_ping_pong.c" >&2

# A figure of each, of $count repetitions of $bytes.
all_mpis() {
  local mpi
  for mpi in "${mpis[@]}"; do
    figure "$mpi" "$bytes" "$("on_$mpi" "$count" "$bytes" | awk '$1 > 0 { print $1; exit }')"
  done
}

for bytes; do
  [[ $place != node || $bytes != 8 ]] || libraries
  count=$((1 + repetitions / 50 + repetitions * 1000 / (1000 + bytes)))
  mpi_settings 2 "$nodes"
  all_mpis
  mpi_asks_first "$bytes" || continue
  mpi_sends_eagerly
  all_mpis
done
