#!/usr/bin/env bash
# Many short exchanges: examples/gauss, which searches its pivots by reads of single coefficients,
# in each way of waiting (SPLITC_WAIT), and the same algorithm by what is installed of Open MPI and
# MPICH (compiled from benchmarks/rivals/mpi_gauss.c), on 2 processes of this machine, each bound to
# a core. All run in turn, several rounds, and the least time of each counts. Every solution must
# have the same bits. Writes gauss_node.txt, .csv and, with gnuplot, .svg; with --nodes 2, where
# everything goes over TCP, gauss_tcp.txt and so on.
#
#   benchmarks/gauss_table.sh [--nodes 2] [--rounds N] [--sizes "N..."] [--out FOLDER] [--bin FOLDER]
#                            [--quick]
#
# --sizes: equations, by default those of "The influence of system calls and interrupts on the
# performances of a PC cluster using a Remote DMA communication primitive". --out is where the files
# go, by default the current folder. --bin is a bazel-bin with //examples:gauss and the launcher;
# without it they are built. Over TCP our provider is the one that the library chooses, or
# SPLITC_PROVIDER. An exchange is a value, a row or a barrier that a process waits for. --quick: MPI
# gets little time, to see that all runs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/mpi.sh"
sizes="800 1200 1600 2000"
nodes=1
rounds=3
seconds=600  # that one run of MPI may take
out=$PWD
bin=""

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'; }

while (($#)); do
  case $1 in
    --nodes) nodes=${2:?--nodes needs 1 or 2} && shift 2 ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --sizes) sizes=${2:?--sizes needs numbers} && shift 2 ;;
    --out) out=$(cd "${2:?--out needs a folder}" && pwd); shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd); shift 2 ;;
    --quick) seconds=5 && shift ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "--rounds $rounds: not a number above 0" >&2; exit 2; }
[[ $nodes =~ ^[12]$ ]] || { echo "--nodes $nodes: neither 1 nor 2" >&2; exit 2; }
[[ $sizes =~ ^([1-9][0-9]* *)+$ ]] || { echo "--sizes $sizes: not numbers above 0" >&2; exit 2; }

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //examples:gauss
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

place=node title="on one node"
open_mpi_options=(--bind-to core)
mpich_environment=()
if ((nodes == 2)); then
  place=tcp title="over TCP"
  open_mpi_options+=("${open_mpi_over_tcp[@]}")
  mpich_environment=("${mpich_over_tcp[@]}")
fi
((EUID != 0)) || open_mpi_options+=(--allow-run-as-root)

# Each contender prints SIZE,EXCHANGES,SECONDS,SECONDS IN ALL,CHECKSUM for the size that it is given.

# ours WAIT SIZE
ours() {
  SPLITC_WAIT=$1 "$bin/tools/splitcrun/splitcrun" -n 2 --nodes "$nodes" --bind core \
    --timeout 600 "$bin/examples/gauss" --csv --search each --sizes "$2" | sed 's/,each,/,/'
}
spin() { ours spin "$1"; }
yield() { ours yield "$1"; }
block() { ours block "$1"; }
open_mpi() {
  timeout $seconds "$open_mpi_run" -n 2 "${open_mpi_options[@]}" "$work/open_mpi_program" "$1" \
    2>/dev/null || true
}
mpich() {
  timeout $seconds env "${mpich_environment[@]}" mpiexec.hydra -n 2 -bind-to core \
    "$work/mpich_program" "$1" 2>/dev/null || true
}

find_mpis "$root/benchmarks/rivals/mpi_gauss.c" -ffp-contract=off -lm
contenders=(spin yield block "${mpis[@]}")

for ((round = 0; round < rounds; ++round)); do
  for size in $sizes; do
    for contender in "${contenders[@]}"; do
      "$contender" "$size" | sed "s/^/$contender,/" >>"$work/figures"
    done
  done
done

# Lines of SIZE and then, of each contender, the exchanges, the least seconds and the microseconds
# of an exchange.
name=gauss_$place
{
  header="size"
  for contender in "${contenders[@]}"; do
    header+=",${contender}_exchanges,${contender}_seconds,${contender}_us"
  done
  echo "$header"
  awk -F, -v contenders="${contenders[*]}" -v sizes="$sizes" '
    { key = $1 "," $2
      if (!(key in least) || $4 < least[key]) { least[key] = $4; exchanges[key] = $3 }
      if (!($2 in sum)) sum[$2] = $6
      if (sum[$2] != $6) { print "size " $2 ": " $1 " has other unknowns" > "/dev/stderr"; bad = 1 } }
    END {
      count = split(contenders, names, " ")
      for (i = 1; i <= split(sizes, all, " "); ++i) {
        line = all[i]
        for (j = 1; j <= count; ++j) {
          key = names[j] "," all[i]
          if (key in least) {
            us = sprintf("%.3f", 1e6 * least[key] / exchanges[key])
            line = line "," exchanges[key] "," least[key] "," us
          } else {
            line = line ",-,-,-"  # it did not run, or not in time
          }
        }
        print line
      }
      exit bad
    }' "$work/figures"
} >"$out/$name.csv"

{
  echo "Gauss with pivots read one by one, 2 processes $title: us of an exchange, the least of" \
    "$rounds rounds"
  awk -F, '
    NR == 1 { printf "%6s%12s", "size", "exchanges"
              for (i = 4; i <= NF; i += 3) { sub(/_us$/, "", $i); printf "%12s", $i }
              print ""; next }
    { printf "%6s%12s", $1, $2
      for (i = 4; i <= NF; i += 3) printf "%12s", $i
      print "" }' "$out/$name.csv"
} | tee "$out/$name.txt"

if command -v gnuplot >/dev/null; then
  gnuplot -e "data='$out/$name.csv'; picture='$out/$name.svg'; place='$title'" \
    "$root/benchmarks/gauss_table.gnuplot"
  echo "written: $out/$name.txt, .csv, .svg"
else
  echo "written: $out/$name.txt, .csv; no plot, for gnuplot is not installed (gnuplot-nox)"
fi
