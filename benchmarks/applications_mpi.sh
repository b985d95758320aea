#!/usr/bin/env bash
# Applications beside MPI, in one table: EM3D, sample sort, radix sort, Jacobi's method in 3-D,
# Gauss, random updates, conjugate gradients, five of Bale's kernels, and those of the Parallel
# Research Kernels that communicate. Ours are examples/, each in its fastest versions; MPI's are
# benchmarks/rivals/, the same algorithms on the same input, compiled by what is installed of Open MPI
# and MPICH. On this machine all run in turn, several rounds; of each version the least time or the
# highest rate counts. An answer that is not that of all others is an error: exit code 1, and nothing
# is written. What cannot run is named, with the reason.
#
#   benchmarks/applications_mpi.sh [--procs "N..."] [--nodes "HOW..."] [--rounds N]
#                                  [--only "NAME..."] [--scaling strong|weak] [--repetitions N]
#                                  [--settings] [--seconds N] [--csv] [--bin FOLDER] [--quick]
#
# --procs: how many processes, by default 2; each of these numbers makes a table. --nodes: 1, by
# default; or same, as many as there are processes, which then reach each other over TCP on the
# loopback; or both, "1 same". --only: of em3d, sample_sort, radix_sort, jacobi3d, gauss, gups,
# conjugate_gradient, histogram, index_gather, transpose, topological_sort, triangles, prk_stencil,
# prk_transpose, prk_synch_p2p, prk_sparse, prk_random, prk_dgemm, prk_reduce, prk_pic. --scaling: weak,
# a problem of so much work for each process; strong, the problem of one process for all of them.
# --repetitions: how often a program solves its problem in one run. --settings: MPI also with the
# settings known to help it (mpi.sh). --seconds: that one run may take, by default 30. FOLDER is a
# bazel-bin with the programs and the launcher; without it they are built. --quick: tiny problems, one
# round, to see that all runs. Over TCP our provider is the one that the library chooses, or
# SPLITC_PROVIDER. MPICH is left out where there are more processes than cores, as its processes do
# not give them up; with --scaling Open MPI where they are more than twice as many, as it takes
# seconds to start.
#
# The last column is by how much ours is faster than the faster MPI: 2.00 is twice as fast, below
# 1.00 MPI is ahead.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/mpi.sh"
source "$root/benchmarks/applications_mpi/programs.sh"
all_procs=2 places=1 rounds="" only="" csv="" bin="" quick="" limit="" many="" settings="" scaling=""

usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'
  set_sizes ""
  printf '\nHow large the problems are:\n\n'
  describe_sizes
}

while (($#)); do
  case $1 in
    --procs) all_procs=${2:?--procs needs numbers} && shift 2 ;;
    --nodes) places=${2:?--nodes needs 1 or same} && shift 2 ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --only) only=${2:?--only needs the name of a program} && shift 2 ;;
    --seconds) limit=${2:?--seconds needs a number} && shift 2 ;;
    --csv) csv=yes && shift ;;
    --scaling) scaling=${2:?--scaling needs strong or weak} && shift 2 ;;
    --settings) settings=yes && shift ;;
    --repetitions) many=${2:?--repetitions needs a number} && shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd) || exit 2; shift 2 ;;
    --quick) quick=yes && shift ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
rounds=${rounds:-$([[ -n $quick ]] && echo 1 || echo 5)}
for number in $rounds $all_procs $limit $many; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "$number: not a number above 0" >&2; exit 2; }
done
for place in $places; do
  [[ $place =~ ^(1|same)$ ]] || { echo "--nodes $place: neither 1 nor same" >&2; exit 2; }
done
for program in $only; do
  [[ " ${programs[*]} " == *" $program "* ]] ||
    { echo "--only $program: not one of ${programs[*]}" >&2; exit 2; }
done
programs=(${only:-${programs[@]}})
[[ $scaling =~ ^(|strong|weak)$ ]] ||
  { echo "--scaling $scaling: neither strong nor weak" >&2; exit 2; }

# size_problems PROCS: for so many processes.
size_problems() {
  [[ $scaling != strong ]] || parts=$1
  [[ $scaling != weak ]] || growth=$1
  set_sizes "$quick"
  seconds=${limit:-$seconds} repetitions=${many:-$repetitions} key_repetitions=${many:-$key_repetitions}
}

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun \
    //examples:{em3d,key_sort,jacobi3d,gauss,gups,conjugate_gradient,bale,prk}
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
  cd - >/dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- Who takes part

declare -A not_compiled  # why not, by MPI,PROGRAM
declare -A reason        # why MPI,PROGRAM,PROCS,NODES,SETTING has no figure

compile_all() {
  local mpi program source
  for mpi in "${mpis[@]}"; do
    for program in "${programs[@]}"; do
      source=${rival[$program]}
      [[ ! -e $work/${mpi}_$source ]] || continue  # that of another program, too
      compile_for "$mpi" "$source" "$root/benchmarks/rivals/$source.c" \
        ${compiled_with[$program]:-} >"$work/said" || not_compiled[$mpi,$program]=$(<"$work/said")
    done
  done
}

# --- Running

# settings_for CONTENDER: the settings with which it takes part.
settings_for() {
  if [[ $1 == ours || -z $settings ]]; then echo default; else settings_of "$1" "$nodes"; fi
}

# turn CONTENDER PROGRAM: one run with $mpi_setting, whose lines VERSION,VALUE,ANSWER become lines of
# $work/figures, PROCS,NODES,PROGRAM,WHO,VERSION,VALUE,ANSWER. What fails once is not tried again.
turn() {
  local key=$1,$2,$procs,$nodes,$mpi_setting status=0 setting=""
  [[ $mpi_setting == default ]] || setting=" $mpi_setting"
  [[ -z ${reason[$key]:-} ]] || return 0
  if [[ -n ${not_compiled[$1,$2]:-} ]]; then
    reason[$key]=${not_compiled[$1,$2]}
    return 0
  fi
  if [[ $1 == mpich ]] && ((procs > $(nproc))); then
    reason[$key]="its processes do not give a core up, and there are more of them than cores"
    return 0
  fi
  if [[ $1 != ours && -n $scaling ]] && ((procs > 2 * $(nproc))); then
    reason[$key]="there are more than two processes for each core"
    return 0
  fi
  if [[ $1 == ours ]]; then "ours_$2"; else "mpi_$2" "with_$1" "$work/$1_${rival[$2]}"; fi \
    >"$work/lines" 2>"$work/errors" || status=$?
  if ((status == 0)) && [[ -s $work/lines ]]; then
    sed "s/^\([^,]*\)/$procs,$nodes,$2,$1,\1$setting/" "$work/lines" >>"$work/figures"
  elif ((status == 124)); then
    reason[$key]="did not finish within $seconds s"
  elif [[ $1 == ours ]]; then
    cat "$work/lines" "$work/errors" >&2
    echo "$2 of ours failed with exit code $status" >&2
    exit 1
  else
    reason[$key]="failed with exit code $status: $(grep -v '^[-= ]*$' "$work/errors" | head -n 1)"
  fi
}

# Whether all have the answer of the first, which is ours.
answers_agree() {
  awk -F, '
    { key = $3 ", " $1 " processes, " $2 " nodes" }
    !(key in first) { first[key] = $7; name[key] = $4 " (" $5 ")" }
    $7 != first[key] && $7 != "rounded" {
      print key ": " $4 " (" $5 ") answers " $7 ", and " name[key] " " first[key]; bad = 1
    }
    END { exit bad }' "$work/figures" >&2
}

measure() {
  local program contender round setting procs=$count
  size_problems "$count"
  for program in "${programs[@]}"; do
    for ((round = 0; round < rounds; ++round)); do
      for contender in ours "${mpis[@]}"; do
        for setting in $(settings_for "$contender"); do
          mpi_settings "$procs" "$nodes" "$setting"
          turn "$contender" "$program"
        done
      done
    done
    answers_agree || { echo "the answers differ: nothing is written" >&2; exit 1; }
  done
}

# --- What is printed

# placement PROCS NODES: in words.
placement() {
  local processes="$1 processes" bound="each bound to a core of its own"
  (($1 > 1)) || processes="1 process"
  (($1 <= $(nproc))) || bound="not bound, on $(nproc) cores"
  if (($2 == 1)); then
    echo "$processes on one node, $bound"
  else
    echo "$processes, a node each: TCP on the loopback, $bound"
  fi
}

# what_is_left_out PROCS NODES: a line for each program that somebody could not run.
what_is_left_out() {
  local program mpi key setting
  for program in "${programs[@]}"; do
    for mpi in ours "${mpis[@]}"; do
      for setting in $(settings_for "$mpi"); do
        key=$mpi,$program,$1,$2,$setting
        [[ -z ${reason[$key]:-} ]] || echo "${title[$program]}, ${name[$mpi]}: ${reason[$key]}"
      done
    done
  done
}

# table MODE PROCS NODES: see table.awk.
table() {
  awk -F, -v mode="$1" -v procs="$2" -v nodes="$3" -v who="ours ${mpis[*]}" \
    -f "$root/benchmarks/applications_mpi/table.awk" "$work/programs" "$work/figures"
}

declare -A name=([ours]=Splitphase [open_mpi]="Open MPI" [mpich]=MPICH)
installed_mpis >"$work/missing"
if [[ -n $csv ]]; then cat "$work/missing" >&2; else cat "$work/missing"; fi
compile_all
for program in "${programs[@]}"; do
  echo "$program,${title[$program]},${unit[$program]},${better[$program]}"
done >"$work/programs"

touch "$work/figures"
placements=()
[[ -z $csv ]] ||
  echo "procs,nodes,program,who,version,value,unit,better,answer,speed_over_best_mpi"
for place in $places; do
  for count in $all_procs; do
    nodes=1
    [[ $place == 1 ]] || nodes=$count
    [[ " ${placements[*]} " != *" $count,$nodes "* ]] || continue  # one process is one node
    placements+=("$count,$nodes")
    measure
    if [[ -n $csv ]]; then
      table csv "$count" "$nodes"
      what_is_left_out "$count" "$nodes" >&2
    else
      printf '\n%s; rounds in turn: %s\n' "$(placement "$count" "$nodes")" "$rounds"
      table text "$count" "$nodes"
      what_is_left_out "$count" "$nodes" | sed 's/^/cannot run: /'
    fi
  done
done
