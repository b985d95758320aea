#!/usr/bin/env bash
# The applications of examples/ between two processes, on one node and on two. First those that can
# communicate in three ways, for several sizes of what each process has; then all others, in the
# versions that each of them has. The ways run in turn, several rounds, and of each the least time or
# the highest rate counts, so that all of them see the same states of the machine.
#
#   benchmarks/applications.sh [--only NAME] [--rounds N] [--csv] [--quick] [--bin FOLDER]
#
# NAME is an application. FOLDER is a bazel-bin with the applications and the launcher; without it
# they are built. --csv: a line for each way, with the version and the compiler of what ran. --quick:
# tiny problems, one round, to see that all runs. Between nodes the provider is the one that the library
# chooses, or SPLITC_PROVIDER.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/benchmarks/applications/programs.sh"
rounds="" only="" csv="" bin="" quick=""

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'; }

while (($#)); do
  case $1 in
    --only) only=${2:?--only needs the name of an application} && shift 2 ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --csv) csv=yes && shift ;;
    --quick) quick=yes && shift ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd) || exit 2; shift 2 ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
rounds=${rounds:-$([[ -n $quick ]] && echo 1 || echo 3)}
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "--rounds $rounds: not a number above 0" >&2; exit 2; }
if [[ -n $only ]]; then
  [[ " ${with_ways[*]} ${others[*]} " == *" $only "* ]] ||
    { echo "--only $only: not one of ${with_ways[*]} ${others[*]}" >&2; exit 2; }
fi
asked_for() { [[ -z $only || $only == "$1" ]]; }

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun \
    $(printf '//examples:%s\n' "${with_ways[@]}" "${others[@]}")
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
  cd - >/dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bind=core
(($(nproc) >= 2)) || bind=none
set_sizes "$quick"
make_inputs
describe_inputs

# measure NODES COMMAND [ARGUMENT]: the best of each of its lines WAY,VALUE in all rounds, in
# $work/best.
measure() {
  local round nodes=$1 program=${2#run_}
  for ((round = 0; round < rounds; ++round)); do
    "${@:2}" || { echo "${*:2} on $nodes nodes failed" >&2; exit 1; }
  done >"$work/figures"
  [[ -s $work/figures ]] || { echo "${*:2} on $nodes nodes printed no figures" >&2; exit 1; }
  awk -F, -v rate="${rate[$program]:-}" '
    !($1 in best) { order[++count] = $1; best[$1] = $2 }
    rate != "" ? $2 > best[$1] : $2 < best[$1] { best[$1] = $2 }
    END { for (i = 1; i <= count; ++i) print order[i] "," best[order[i]] }
  ' "$work/figures" >"$work/best"
}

# --- What is printed

# What is the same in all lines of CSV: host, date, version and compiler of what runs.
origin() {
  local version compiler
  version=$("$bin/tools/splitcrun/splitcrun" --version | sed 's/^[^)]*) //; s/;.*//; s/,//g')
  compiler=$(readelf -p .comment "$bin/tools/splitcrun/splitcrun" 2>/dev/null |
    sed -n '/Linker/d; s/^ *\[[^]]*\] *//p' | tail -n 1 | tr -d ,)
  echo "$(uname -n),$(date +%F),$version,${compiler:-unknown}"
}

# csv_lines PROGRAM OPTIONS NODES UNIT BETTER: of $work/best.
csv_lines() { sed "s|^\(.*\),\(.*\)|$origin,$1,$2,$3,\1,\2,$4,$5|" "$work/best"; }

# row_of_ways RUN NODES: of $work/best.
row_of_ways() {
  awk -F, -v run="$1" -v nodes="$2" '{ us[$1] = $2 } END {
    printf "%-40s %5d %10.2f %10.2f %10.2f %20.2f\n", run, nodes, us["messages"], us["stores"],
           us["channels"], us["messages"] / us["channels"] }' "$work/best"
}

# rows_of_versions TITLE UNIT: of $work/best.1 and $work/best.2, on one node and on two.
rows_of_versions() {
  awk -F, -v title="$1" -v unit="$2" '
    FNR == NR { order[++count] = $1; near[$1] = $2; next }
    { far[$1] = $2 }
    END {
      for (i = 1; i <= count; ++i) {
        way = order[i]
        printf "%-46s %-17s %12.3f %12.3f  %s\n", title, way, near[way], far[way], unit
      }
    }' "$work/best.1" "$work/best.2"
}

print_ways() {
  local nodes run program
  [[ -n $csv ]] || printf '%-40s %5s %10s %10s %10s %20s\n' "us an iteration" nodes messages \
    stores channels "messages / channels"
  for nodes in 1 2; do
    for run in "${ways[@]}"; do
      program=${run%% *}
      asked_for "$program" || continue
      measure "$nodes" run_ways "$run"
      run=${run%:*}
      if [[ -n $csv ]]; then
        csv_lines "$program" "${run#* }" "$nodes" "us an iteration" less
      else
        row_of_ways "$run" "$nodes"
      fi
    done
  done
}

print_others() {
  local nodes program better
  [[ -n $csv ]] || printf '\n%-46s %-17s %12s %12s\n' "" version "one node" "two nodes"
  for program in "${others[@]}"; do
    asked_for "$program" || continue
    better=less
    [[ -z ${rate[$program]:-} ]] || better=more
    for nodes in 1 2; do
      measure "$nodes" "run_$program"
      if [[ -n $csv ]]; then
        csv_lines "$program" "${options[$program]}" "$nodes" "${unit[$program]}" "$better"
      else
        cp "$work/best" "$work/best.$nodes"
      fi
    done
    [[ -n $csv ]] || rows_of_versions "$program ${options[$program]}" "${unit[$program]}"
  done
}

if [[ -n $csv ]]; then
  origin=$(origin)
  echo "host,date,version,compiler,program,options,nodes,way,value,unit,better"
else
  printf '2 processes; the least time, or the highest rate, of %s rounds in turn\n\n' "$rounds"
fi
if [[ -z $only || " ${with_ways[*]} " == *" $only "* ]]; then print_ways; fi
if [[ -z $only || " ${others[*]} " == *" $only "* ]]; then print_others; fi
