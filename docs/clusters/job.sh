#!/bin/bash
#SBATCH --job-name=waves
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=00:10:00
#SBATCH --output=%x-%j.out
# Two programs as four processes on two nodes. In the folder that has the programs: sbatch job.sh
# Where Slurm has no PMIx (srun --mpi=list tells): MPI=pmi2 sbatch job.sh
set -eu
export SPLITC_VERBOSE=1 # how the job was set up: nodes, network and why it was taken

# -K: when a process dies, the step ends. With pmi2 Slurm would let the others wait.
run() { srun --mpi="${MPI:-pmix}" -K --label "$@"; }

srun --mpi=none --label hostname
SPLITC_STATS=1 run ./em3d --size 100 --steps 10
run ./key_sort --size 100000 --check
