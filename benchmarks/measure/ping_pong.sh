#!/usr/bin/env bash
# Round trips of two processes by what is installed of Open MPI and MPICH, for ./measure: prints lines
# WHO,BYTES,NS, the least of REPETITIONS, fewer of large ones, for one node ("node") or between two
# over TCP ("tcp").
#
#   benchmarks/measure/ping_pong.sh node|tcp REPETITIONS BYTES...
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/benchmarks/mpi.sh"
place=${1:?node or tcp} repetitions=${2:?how many} && shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mpi_settings 2 "$([[ $place == node ]] && echo 1 || echo 2)"
find_mpis "$root/benchmarks/rivals/mpi_ping_pong.c" >&2
for bytes; do
  count=$((1 + repetitions / 50 + repetitions * 1000 / (1000 + bytes)))
  for mpi in "${mpis[@]}"; do
    "on_$mpi" "$count" "$bytes" | awk -v who="$mpi" -v bytes="$bytes" \
      '$1 > 0 { print who "," bytes "," $1; exit }'
  done
done
