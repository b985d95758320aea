#!/usr/bin/env bash
# Keys sorted over all processes: examples/key_sort in its versions, and the same sorts with
# MPI_Alltoallv by what is installed of Open MPI and MPICH (benchmarks/rivals/mpi_sort.c), on
# processes of this machine, each bound to a core if there are enough. All run in turn, several
# rounds, and the highest rate of each counts. All must give the same order. Prints the rates in
# millions of keys a second, and each against the highest of MPI for the same sort and keys.
#
#   benchmarks/sort_table.sh [--procs N] [--nodes N] [--rounds N] [--size N] [--keys NAME]
#                            [--repetitions N] [--csv] [--bin FOLDER]
#
# --nodes: 1, or as many as there are processes, which then reach each other over TCP. --size: keys of
# each process. --keys: a distribution of key_sort, or all. --repetitions: of each sort in a round.
# FOLDER is a bazel-bin with //examples:key_sort and the launcher; without it they are built. Between
# nodes our provider is the one that the library chooses, or SPLITC_PROVIDER.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/mpi.sh"
procs=2 nodes=1 rounds=5 size=1000000 keys=uniform repetitions=20 csv="" bin=""

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'; }

while (($#)); do
  case $1 in
    --procs) procs=${2:?--procs needs a number} && shift 2 ;;
    --nodes) nodes=${2:?--nodes needs a number} && shift 2 ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --size) size=${2:?--size needs a number} && shift 2 ;;
    --keys) keys=${2:?--keys needs a name} && shift 2 ;;
    --repetitions) repetitions=${2:?--repetitions needs a number} && shift 2 ;;
    --csv) csv=yes && shift ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd); shift 2 ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
for number in "$procs" "$nodes" "$rounds" "$size" "$repetitions"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "$number: not a number above 0" >&2; exit 2; }
done
((nodes == 1 || nodes == procs)) ||
  { echo "--nodes $nodes: neither 1 nor $procs, one for each process" >&2; exit 2; }
parts=("$root"/examples/keys/*.c)
names=$(grep -o '{"[a-z_]*"' "$root/examples/keys/keys.c" | tr -dc 'a-z_\n')
grep -qxF -e "$keys" <<<"$names"$'\n'all ||
  { echo "--keys $keys: not one of" $names all >&2; exit 2; }
[[ $keys == all ]] || names=$keys

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //examples:key_sort
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mpi_settings "$procs" "$nodes"

# Each prints lines of SORT,VERSION,RATE,DIGEST for the keys that it is given.
ours() {
  "$bin/tools/splitcrun/splitcrun" -n "$procs" --nodes "$nodes" --bind "$bind" --timeout 600 \
    "$bin/examples/key_sort" --keys "$1" --size "$size" --repetitions "$repetitions" |
    awk '{ print $1 "," $2 "," $4 "," $NF }'
}
open_mpi() { on open_mpi "$1" "$size" "$repetitions" | sed 's/,/,alltoallv,/'; }
mpich() { on mpich "$1" "$size" "$repetitions" | sed 's/,/,alltoallv,/'; }

find_mpis "$root/benchmarks/rivals/mpi_sort.c" "${parts[@]}" -I"$root"
for ((round = 0; round < rounds; ++round)); do
  for name in $names; do
    for contender in ours "${mpis[@]}"; do
      "$contender" "$name" | sed "s/^/$name,$contender,/" >>"$work/figures"
    done
  done
done

awk -F, -v csv="$csv" -v procs="$procs" -v nodes="$nodes" -v rounds="$rounds" -v size="$size" '
  { key = $1 "," $3 "," $2 "," $4
    if (!(key in most)) { order[++count] = key; most[key] = $5 }
    if ($5 > most[key]) most[key] = $5
    if ($2 != "ours" && $5 > best[$1, $3]) best[$1, $3] = $5
    if (!($1 in digest)) digest[$1] = $6
    if ($6 != digest[$1]) { print key ": order " $6 ", not " digest[$1] > "/dev/stderr"; bad = 1 } }
  END {
    if (csv) print "procs,nodes,size,keys,sort,who,version,million_keys_a_second,of_the_highest_mpi"
    else {
      printf "%d processes, %d nodes, %d keys of each; ", procs, nodes, size
      printf "highest of %d rounds\n", rounds
    }
    for (i = 1; i <= count; ++i) {
      key = order[i]
      split(key, part, ",")
      ratio = best[part[1], part[2]] ? sprintf("%.2f", most[key] / best[part[1], part[2]]) : "-"
      if (csv) print procs "," nodes "," size "," key "," most[key] "," ratio
      else {
        printf "%-17s %-6s %-8s %-10s ", part[1], part[2], part[3], part[4]
        printf "%9.3f million keys a second %6s of the highest MPI\n", most[key], ratio
      }
    }
    exit bad
  }' "$work/figures"
