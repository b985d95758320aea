# The MPIs that a script compares with; sourced by it. The script has a folder $work.

# What keeps processes of one machine to TCP: options of Open MPI, of whose one-sided calls only pt2pt
# does not look for shared memory by itself, and variables of MPICH.
open_mpi_over_tcp=(--mca btl "tcp,self" --mca btl_tcp_if_include lo --mca pml ob1 --mca osc pt2pt)
mpich_over_tcp=(MPIR_CVAR_NOLOCAL=1 UCX_TLS="self,tcp" UCX_NET_DEVICES=lo)

# How their programs are compiled: as our examples in the release build (.bazelrc).
compiled_alike=(-O3 -falign-functions=64 -falign-loops=64)

# first_of NAME...: the first of these commands that is installed. The name, not the path: an mpirun
# that is started as /bin/mpirun takes / for the folder of its installation, and refuses.
first_of() {
  local name
  for name in "$@"; do
    if command -v "$name" >/dev/null; then
      echo "$name"
      return
    fi
  done
}

# installed_mpis: leaves the names of what is installed of Open MPI and MPICH in the array `mpis`,
# and says what is left out and why. `open_mpi_run` is the command that starts Open MPI,
# `open_mpi_compiler` its compiler; those of MPICH are mpiexec.hydra and mpicc.mpich.
installed_mpis() {
  mpis=()
  open_mpi_run=$(first_of mpirun.openmpi mpirun)
  open_mpi_compiler=$(first_of mpicc.openmpi mpicc)
  if [[ -z $open_mpi_run || -z $open_mpi_compiler ]]; then
    echo "Open MPI is not installed (no mpirun or no mpicc): left out"
  elif ! "$open_mpi_run" --version 2>/dev/null | grep -i "open-\?mpi" >/dev/null; then
    echo "mpirun is not Open MPI's: left out"
  else
    mpis+=(open_mpi)
  fi
  if [[ -z $(first_of mpicc.mpich) || -z $(first_of mpiexec.hydra) ]]; then
    echo "MPICH is not installed (no mpicc.mpich or no mpiexec.hydra): left out"
  else
    mpis+=(mpich)
  fi
}

# find_mpis SOURCE [OPTION]...: compiles SOURCE by those that are installed to
# $work/open_mpi_program and $work/mpich_program. Says what is left out and why, and leaves the names
# of the others in `mpis`.
find_mpis() {
  local name installed
  installed_mpis
  installed=("${mpis[@]}") mpis=()
  for name in "${installed[@]}"; do
    if compile_for "$name" program "$@"; then mpis+=("$name"); fi
  done
}

# compile_for MPI NAME SOURCE [OPTION]...: to $work/MPI_NAME. If that fails it says why, and fails.
compile_for() {
  local compiler=mpicc.mpich title=MPICH
  if [[ $1 == open_mpi ]]; then compiler=$open_mpi_compiler title="Open MPI"; fi
  "$compiler" "${compiled_alike[@]}" -o "$work/$1_$2" "${@:3}" 2>"$work/errors" && return
  echo "$title's compiler fails ($(grep -m 1 error "$work/errors")): left out"
  return 1
}

# settings_of MPI NODES: the settings with which it is measured: as it is installed, and those known to make
# some of its figures better. On one node Open MPI copies large messages by a system call unless it is told
# not to (no_cma), and MPICH's UCX has several kinds of shared memory (posix). Both can send at once, without
# asking the receiver first, what is larger than they do as installed (eager).
settings_of() {
  case $1,$2 in
    open_mpi,1) echo default no_cma ;;
    mpich,1) echo default posix eager ;;
    *) echo default eager ;;
  esac
}

# setting_matters SETTING BYTES: whether it changes how so many bytes are sent.
setting_matters() {
  [[ ! $1 =~ ^(no_cma|eager)$ ]] || (($2 >= (mpi_nodes > 1 ? 16384 : 4096)))
}

# mpi_settings PROCS NODES [SETTING]: how PROCS processes of this machine are started, each bound to a core if
# there are enough: leaves that in `bind`, "core" or "none", and what with_open_mpi and with_mpich need.
# With more than one node they reach each other over TCP.
mpi_settings() {
  procs=$1 mpi_nodes=$2 mpi_setting=${3:-default} bind=none
  ((procs > $(nproc))) || bind=core
  open_mpi_options=(-n "$procs" --bind-to "$bind" --oversubscribe)
  mpich_environment=()
  if ((mpi_nodes > 1)); then
    open_mpi_options+=("${open_mpi_over_tcp[@]}")
    mpich_environment=("${mpich_over_tcp[@]}")
  fi
  case $mpi_setting in
    no_cma) open_mpi_options+=(--mca btl_vader_single_copy_mechanism none) ;;
    shared_collectives) open_mpi_options+=(--mca coll_sm_priority 95) ;;
    posix) mpich_environment+=("UCX_TLS=self,posix") ;;
    eager)
      open_mpi_options+=(--mca btl_tcp_eager_limit 4194304)
      mpich_environment+=(UCX_RNDV_THRESH=inf)
      ;;
  esac
  ((EUID != 0)) || open_mpi_options+=(--allow-run-as-root)
}

# with_open_mpi PROGRAM [ARGUMENT]..., with_mpich PROGRAM [ARGUMENT]...: run it so, for `seconds` at
# most, by default 600; then they end it, and fail with 124.
with_open_mpi() { timeout "${seconds:-600}" "$open_mpi_run" "${open_mpi_options[@]}" "$@"; }
with_mpich() {
  timeout "${seconds:-600}" env "${mpich_environment[@]}" mpiexec.hydra -n "$procs" \
    -bind-to "$bind" "$@"
}

# on MPI ARGUMENT...: runs the program of find_mpis so. MPI does not run everywhere: then this prints nothing
# on standard output and succeeds; standard error says "MPI SETTING: slow" of a run that was ended because it
# took too long. (What MPICH's launcher says of a program that it had to end stands among the program's output.)
on() {
  {
    "with_$1" "$work/$1_program" "${@:2}" 2>/dev/null ||
      { (($? != 124)) || echo "$1 ${mpi_setting:-default}: slow" >&2; }
  } | sed '/^$/d; /^=/d; /^YOUR APPLICATION TERMINATED/d; /^This typically refers/d; /^Please see/d'
}

# find_open_shmem SOURCE ARGUMENT...: compiles SOURCE by Open MPI's OpenSHMEM, and tries whether it runs
# with these arguments: not every installation does. Leaves "open_shmem" in `open_shmem`, or nothing, and
# says why.
find_open_shmem() {
  open_shmem=""
  if [[ -z $(first_of oshcc) || -z $(first_of oshrun) ]]; then
    echo "OpenSHMEM is not installed (no oshcc or no oshrun): left out"
  elif ! oshcc "${compiled_alike[@]}" -o "$work/open_shmem_program" "$1" 2>"$work/errors"; then
    echo "OpenSHMEM's compiler fails ($(grep -m 1 error "$work/errors")): left out"
  elif ! seconds=20 with_open_shmem "$work/open_shmem_program" "${@:2}" >"$work/said" 2>&1; then
    echo "OpenSHMEM does not run here ($(grep -m 1 '[a-z]' "$work/said")): left out"
  else
    open_shmem=open_shmem
  fi
}

# As those of Open MPI, which starts it; it reaches others by UCX.
with_open_shmem() {
  local options=(-n "$procs" --bind-to "$bind" --oversubscribe -x SHMEM_SYMMETRIC_SIZE=64M)
  ((EUID != 0)) || options+=(--allow-run-as-root)
  if ((mpi_nodes > 1)); then
    options+=(-x UCX_TLS=self,tcp -x UCX_NET_DEVICES=lo)
  else
    options+=(-x UCX_TLS=self,sm)
  fi
  timeout "${seconds:-600}" oshrun "${options[@]}" "$@"
}
