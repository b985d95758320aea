# The MPIs that a script compares with; sourced by it. The script has a folder $work.

# first_of NAME...: the first of these commands that is installed.
first_of() {
  local name
  for name in "$@"; do
    if command -v "$name"; then return; fi
  done
}

# find_mpis SOURCE [OPTION]...: compiles SOURCE by what is installed of Open MPI and MPICH to
# $work/open_mpi_program and $work/mpich_program. Says what is left out and why, and leaves the names
# of the others in the array `mpis`, and in `open_mpi_run` the command that starts Open MPI; that of
# MPICH is mpiexec.hydra.
find_mpis() {
  mpis=()
  open_mpi_run=$(first_of mpirun.openmpi mpirun)
  local compiler
  compiler=$(first_of mpicc.openmpi mpicc)
  if [[ -z $open_mpi_run || -z $compiler ]]; then
    echo "Open MPI is not installed (no mpirun or no mpicc): left out"
  elif ! "$open_mpi_run" --version 2>/dev/null | grep -i "open-\?mpi" >/dev/null; then
    echo "mpirun is not Open MPI's: left out"
  else
    compile_for open_mpi "Open MPI" "$compiler" "$@"
  fi
  if [[ -z $(first_of mpicc.mpich) || -z $(first_of mpiexec.hydra) ]]; then
    echo "MPICH is not installed (no mpicc.mpich or no mpiexec.hydra): left out"
  else
    compile_for mpich MPICH mpicc.mpich "$@"
  fi
}

# compile_for NAME TITLE COMPILER SOURCE [OPTION]...
compile_for() {
  if "$3" -O3 -o "$work/$1_program" "${@:4}" 2>"$work/errors"; then
    mpis+=("$1")
  else
    echo "$2's compiler fails ($(grep -m 1 error "$work/errors")): left out"
  fi
}

# mpi_settings PROCS NODES: how PROCS processes of this machine are started, each bound to a core if
# there are enough: leaves that in `bind`, "core" or "none", and what on_open_mpi and on_mpich need.
# With more than one node they reach each other over TCP.
mpi_settings() {
  procs=$1 bind=none
  ((procs > $(nproc))) || bind=core
  open_mpi_options=(-n "$procs" --bind-to "$bind" --oversubscribe)
  mpich_environment=()
  if (($2 > 1)); then
    open_mpi_options+=(--mca btl tcp,self --mca btl_tcp_if_include lo --mca pml ob1)
    mpich_environment=(MPIR_CVAR_NOLOCAL=1 UCX_TLS=self,tcp UCX_NET_DEVICES=lo)
  fi
  ((EUID != 0)) || open_mpi_options+=(--allow-run-as-root)
}

# on_open_mpi ARGUMENT..., on_mpich ARGUMENT...: run the compiled program so. MPI does not run
# everywhere: then they print nothing, and succeed.
on_open_mpi() {
  timeout 600 "$open_mpi_run" "${open_mpi_options[@]}" "$work/open_mpi_program" "$@" 2>/dev/null ||
    true
}
on_mpich() {
  timeout 600 env "${mpich_environment[@]}" mpiexec.hydra -n "$procs" -bind-to "$bind" \
    "$work/mpich_program" "$@" 2>/dev/null || true
}
