#!/usr/bin/env bash
# What waiting costs in each way (SPLITC_WAIT=spin, yield, block), between two processes of one node
# and of two: the program waits in all of them in turn, several rounds, and the least time of each
# counts, with the processor time of that way's least. Microseconds.
#
#   benchmarks/waits.sh [--rounds N] [--bin FOLDER]
#
# --bin is a bazel-bin with //benchmarks:waits and the launcher; without it they are built.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rounds=5
bin=""
quick=()

while (($#)); do
  case $1 in
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd) || exit 2; shift 2 ;;
    --quick) quick=(--quick) && shift ;;
    *)
      sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /,$d'
      [[ $1 == --help ]] && exit 0 || exit 2
      ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "--rounds $rounds: not a number above 0" >&2; exit 2; }

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //benchmarks:waits
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi

for ((round = 0; round < rounds; ++round)); do
  for nodes in 1 2; do
    for wait in spin yield block; do
      SPLITC_WAIT=$wait "$bin/tools/splitcrun/splitcrun" -n 2 --nodes $nodes --bind core \
        --timeout 300 "$bin/benchmarks/waits" --csv "${quick[@]}" | sed "s/^/$wait,$nodes,/"
    done
  done
done | awk -F, '
  $3 == "benchmark" || $3 ~ /^line_/ { next }
  { key = $1 "," $2 "," $3
    if (!(key in least) || $6 < least[key]) least[key] = $6 }
  function us(wait, nodes, name) {
    key = wait "," nodes "," name
    return key in least ? sprintf("%10.2f", least[key] / 1000) : sprintf("%10s", "-")
  }
  END {
    count = split("round_trip round_trip_cpu_asking late_round_trip late_cpu_asking " \
                  "am_wait_round_trip am_wait_round_trip_cpu_asking", names, " ")
    for (nodes = 1; nodes <= 2; ++nodes) {
      printf "%s%-32s%10s%10s%10s\n", nodes == 1 ? "" : "\n",
             nodes == 1 ? "one node, us" : "two nodes, us", "spin", "yield", "block"
      for (i = 1; i <= count; ++i) {
        print sprintf("%-32s", names[i]) us("spin", nodes, names[i]) \
              us("yield", nodes, names[i]) us("block", nodes, names[i])
      }
    }
  }'
