#!/usr/bin/env bash
# Bytes of memory for each process of another node that was never talked to: what the heap of a
# process grows by from a job of FEW processes to one of MANY, each on a pretended node of its own.
#
#   benchmarks/peers.sh [--few N] [--many N] [--bin FOLDER]
#
# FOLDER is a bazel-bin with //benchmarks:peers and the launcher; without it they are built.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
few=2
many=64
bin=""

while (($#)); do
  case $1 in
    --few) few=${2:?--few needs a number} && shift 2 ;;
    --many) many=${2:?--many needs a number} && shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd) || exit 2; shift 2 ;;
    *)
      sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /d'
      [[ $1 == --help ]] && exit 0 || exit 2
      ;;
  esac
done
if ! [[ $few =~ ^[1-9][0-9]*$ && $many =~ ^[1-9][0-9]*$ ]] || ((many <= few)); then
  echo "--few $few --many $many: must be numbers above 0, the second the larger" >&2
  exit 2
fi

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //tools/splitcrun:splitcrun //benchmarks:peers
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi

# memory PROCESSES: heap with a job, and with an endpoint, too, in bytes; private pages of the latter.
memory() {
  "$bin/tools/splitcrun/splitcrun" -n "$1" --nodes "$1" --timeout 60 "$bin/benchmarks/peers" \
    --csv --only memory | awk -F, '/^(job|endpoint)_heap/ { printf "%s ", $4 }
      /^endpoint_private/ { printf "%s ", 1024 * $4 }'
}

read -r few_job few_endpoint few_private <<<"$(memory "$few")"
read -r many_job many_endpoint many_private <<<"$(memory "$many")"
# row TITLE FEW MANY
row() {
  awk -v title="$1" -v a="$2" -v b="$3" -v peers=$((many - few)) \
    'BEGIN { printf "%-36s %12d %12d %12.1f\n", title, a, b, (b - a) / peers }'
}
printf '%-36s %12s %12s %12s\n' "bytes, of the largest process" "of $few" "of $many" "a peer"
row "heap, job" "$few_job" "$many_job"
row "heap, job and connected endpoint" "$few_endpoint" "$many_endpoint"
row "private pages, job and endpoint" "$few_private" "$many_private"
