#!/usr/bin/env bash
# Our collective calls beside those of Open MPI and MPICH, whichever are installed, on one node and with a
# node for each process over TCP. All run in turn, once; MPI as it is installed and with the settings known to
# help it (mpi.sh). Prints lines PROCESSES,PLACE,WHO,SETTING,NAME,BYTES,NS, the least of its repetitions each.
#
#   benchmarks/collectives.sh [--only node|tcp] [--processes "2 4 8"] [--reps N] [--bin FOLDER] [--quick]
#
# --bin is a bazel-bin with //benchmarks:collectives and the launcher; without it they are built. --quick:
# little work, to see that it runs. MPICH is left out where there are more processes than cores, as its
# processes do not give them up. Of broadcast_fixed the root stays, of broadcast it changes with every call.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/mpi.sh"
places="node tcp"
processes="2 4 8"
reps=10
bin=""
quick=""

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'; }

while (($#)); do
  case $1 in
    --only) places=${2:?--only needs node or tcp} && shift 2 ;;
    --processes) processes=${2:?--processes needs numbers} && shift 2 ;;
    --reps) reps=${2:?--reps needs a number} && shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd) || exit 2; shift 2 ;;
    --quick) quick=--quick reps=1 && shift ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
[[ $places =~ ^(node|tcp|node tcp)$ ]] || { echo "--only $places: neither node nor tcp" >&2; exit 2; }
for number in $reps $processes; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "$number: not a number above 0" >&2; exit 2; }
done

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //benchmarks:collectives
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ours() {
  "$bin/tools/splitcrun/splitcrun" -n "$count" --nodes "$nodes" --timeout 300 \
    "$bin/benchmarks/collectives" --csv --reps "$reps" $quick |
    awk -F, '$5 == "ns" { print $1 "," $3 "," $4 }'
}

find_mpis "$root/benchmarks/rivals/mpi_collectives.c" >&2
echo "processes,place,who,setting,name,bytes,ns"
for where in $places; do
  for count in $processes; do
    nodes=$([[ $where == node ]] && echo 1 || echo "$count")
    ours | sed "s/^/$count,$where,ours,default,/"
    for mpi in "${mpis[@]}"; do
      [[ $mpi != mpich ]] || ((count <= $(nproc))) || continue
      settings=$(settings_of "$mpi" "$nodes")
      [[ $mpi,$where != open_mpi,node ]] || settings+=" shared_collectives"
      for setting in $settings; do
        mpi_settings "$count" "$nodes" "$setting"
        on "$mpi" "$reps" | while IFS=, read -r name bytes ns; do
          ! setting_matters "$setting" "$bytes" || echo "$count,$where,$mpi,$setting,$name,$bytes,$ns"
        done
      done
    done
  done
done
