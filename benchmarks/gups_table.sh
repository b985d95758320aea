#!/usr/bin/env bash
# Updates of random words in the memory of all processes: examples/gups in its six styles, and the
# ways of what is installed of Open MPI and MPICH (compiled from benchmarks/rivals/mpi_gups.c) and of
# Open MPI's OpenSHMEM (rivals/shmem_gups.c), on processes of this machine, each bound to a core if
# there are enough. All run in turn, several rounds, and the highest rate of each counts. Every table
# must be right. Prints the rates in millions a second, and ours against the highest of these.
#
#   benchmarks/gups_table.sh [--procs N] [--nodes N] [--rounds N] [--updates N] [--slow N] [--csv]
#                            [--bin FOLDER]
#
# --nodes: 1, or as many as there are processes, which then reach each other over TCP. --updates: of
# each process. --slow: of the ways that wait for each. FOLDER is a bazel-bin with //examples:gups
# and the launcher; without it they are built. Between nodes our provider is the one that the
# library chooses, or SPLITC_PROVIDER.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/mpi.sh"
procs=2 nodes=1 rounds=5 updates=2000000 slow="" csv="" bin=""

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'; }

while (($#)); do
  case $1 in
    --procs) procs=${2:?--procs needs a number} && shift 2 ;;
    --nodes) nodes=${2:?--nodes needs a number} && shift 2 ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --updates) updates=${2:?--updates needs a number} && shift 2 ;;
    --slow) slow=${2:?--slow needs a number} && shift 2 ;;
    --csv) csv=yes && shift ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd); shift 2 ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
slow=${slow:-$((nodes == 1 ? updates / 10 : updates / 200 + 1))}
for number in "$procs" "$nodes" "$rounds" "$updates" "$slow"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "$number: not a number above 0" >&2; exit 2; }
done
((nodes == 1 || nodes == procs)) ||
  { echo "--nodes $nodes: neither 1 nor $procs, one for each process" >&2; exit 2; }

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //examples:gups
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mpi_settings "$procs" "$nodes"

# Each prints lines of STYLE,RATE,WORDS THAT ARE WRONG.

ours() {
  local style count
  for style in read_and_write wait_for_each start_many call gather rounds; do
    count=$updates
    [[ $style != read_and_write && $style != wait_for_each ]] || count=$slow
    "$bin/tools/splitcrun/splitcrun" -n "$procs" --nodes "$nodes" --bind "$bind" --timeout 600 \
      "$bin/examples/gups" --style "$style" --updates "$count" |
      sed -n "s/^$style *\([0-9.]*\) million.*second, \([0-9]*\) words.*/$style,\1,\2/p"
  done
}
open_mpi() { on open_mpi 18 "$updates" "$slow"; }
mpich() { on mpich 18 "$updates" "$slow"; }
open_shmem() { on open_shmem 18 "$updates" "$slow"; }

find_mpis "$root/benchmarks/rivals/mpi_gups.c"
find_open_shmem "$root/benchmarks/rivals/shmem_gups.c" 4 8
contenders=(ours "${mpis[@]}" $open_shmem)
for ((round = 0; round < rounds; ++round)); do
  for contender in "${contenders[@]}"; do
    "$contender" | sed "s/^/$contender,/" >>"$work/figures"
  done
done

# read_and_write may lose updates, as HPC Challenge allows for one in a hundred.
awk -F, -v csv="$csv" -v procs="$procs" -v nodes="$nodes" -v rounds="$rounds" '
  { key = $1 "," $2
    if (!(key in most)) { order[++count] = key; most[key] = $3 }
    if ($3 > most[key]) most[key] = $3
    if ($4 != 0 && $2 != "read_and_write") { print key ": " $4 " words wrong" > "/dev/stderr"; bad = 1 } }
  END {
    for (key in most) if (key !~ /^ours/ && most[key] > best) { best = most[key]; name = key }
    if (csv) print "procs,nodes,who,style,million_updates_a_second,of_the_highest_mpi"
    else printf "%d processes, %d nodes; highest of %d rounds\n", procs, nodes, rounds
    for (i = 1; i <= count; ++i) {
      key = order[i]
      ratio = best ? sprintf("%.2f", most[key] / best) : "-"
      if (csv) print procs "," nodes "," key "," most[key] "," ratio
      else { split(key, part, ","); printf "%-9s %-15s %10.3f million a second  %6s of the highest MPI\n", part[1], part[2], most[key], ratio }
    }
    if (name && !csv) print "the highest MPI: " name
    exit bad
  }' "$work/figures"
