#!/usr/bin/env bash
# For ./measure: prints how what is installed of Open MPI and MPICH starts and ends a job of PROCESSES
# on this machine, as lines WHO,COMMAND; the programs are compiled to FOLDER.
#
#   benchmarks/measure/start.sh FOLDER PROCESSES
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/benchmarks/mpi.sh"
work=${1:?a folder} processes=${2:?how many}
mpi_settings "$processes" 1
find_mpis "$root/benchmarks/rivals/mpi_start.c" >&2
for mpi in "${mpis[@]}"; do
  case $mpi in
    open_mpi) echo "open_mpi,$open_mpi_run ${open_mpi_options[*]} $work/open_mpi_program" ;;
    mpich) echo "mpich,mpiexec.hydra -n $processes -bind-to $bind $work/mpich_program" ;;
  esac
done
