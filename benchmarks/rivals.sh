#!/usr/bin/env bash
# Our short request and reply beside what is installed of UCX and Open MPI: 8 bytes there and back
# between two processes of this machine, each bound to a core. They run in turn, several times, and
# the least of each counts, so that all of them see the same states of the machine.
#
#   benchmarks/rivals.sh [--rounds N] [--bin FOLDER]
#
# FOLDER is a bazel-bin with //benchmarks:latency and the launcher; without it they are built.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rounds=5
bin=""

while (($#)); do
  case $1 in
    --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd) && shift 2 ;;
    *)
      sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set /d'
      [[ $1 == --help ]] && exit 0 || exit 2
      ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "--rounds $rounds: not a number above 0" >&2; exit 2; }

if [[ -z $bin ]]; then
  cd "$root"
  bazel build --config=release --show_result=0 //am/job/launcher:splitcrun //benchmarks:latency
  bin=$(bazel info --config=release --ui_event_filters=-info bazel-bin)
fi
work=$(mktemp -d)
server=""
clean_up() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

# Each prints one round trip in ns, its least in this turn, or nothing.

# Also notes the limit that was measured in turn with it.
ours() {
  "$bin/am/job/launcher/splitcrun" -n 2 --bind core --timeout 60 \
    "$bin/benchmarks/latency" --csv --only short --reps 200 >"$work/csv"
  awk -F, '$1 == "short_round_trip:limit" { print $4 }' "$work/csv" >>"$work/limit"
  awk -F, '$1 == "short_round_trip" { print $4 }' "$work/csv"
}

# ucx_perftest's latency is one way. The lesser of its median and its average.
ucx() {
  local port=$((20000 + RANDOM % 10000))
  ucx_perftest -d memory -x posix -t am_lat -c 1 -p "$port" >/dev/null 2>&1 &
  server=$!
  sleep 0.5  # until it listens; it has no other sign
  timeout 60 ucx_perftest 127.0.0.1 -d memory -x posix -t am_lat -s 8 -n 100000 -c 0 \
    -p "$port" -f 2>/dev/null | awk '$1 == 100000 { print 2000 * ($2 < $3 ? $2 : $3) }' || true
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=""
}

open_mpi() {
  local options=(-n 2 --bind-to core)
  ((EUID != 0)) || options+=(--allow-run-as-root)
  timeout 60 mpirun "${options[@]}" "$work/mpi_ping_pong" 200 2>/dev/null |
    awk '{ print $1 }' || true
}

contenders=(ours)
if command -v ucx_perftest >/dev/null; then
  contenders+=(ucx)
else
  echo "UCX is not installed (no ucx_perftest): left out"
fi
if ! command -v mpirun >/dev/null || ! command -v mpicc >/dev/null; then
  echo "Open MPI is not installed (no mpirun or no mpicc): left out"
elif ! mpirun --version 2>/dev/null | grep -q "Open MPI"; then
  echo "mpirun is not Open MPI's: left out"
else
  mpicc -O3 -o "$work/mpi_ping_pong" "$root/benchmarks/rivals/mpi_ping_pong.c"
  contenders+=(open_mpi)
fi

for ((round = 0; round < rounds; ++round)); do
  for contender in "${contenders[@]}"; do
    "$contender" >>"$work/$contender"
  done
done

# minimum NAME, median NAME: of the rounds.
minimum() { sort -g "$work/$1" | head -n 1; }
median() { sort -g "$work/$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

declare -A title=(
  [ours]="Splitphase, short request + reply"
  [ucx]="UCX, ucx_perftest -x posix -t am_lat, twice"
  [open_mpi]="Open MPI, MPI_Send + MPI_Recv"
  [limit]="one cache line by hand"
)
printf '\n8 bytes there and back, %s rounds\n' "$rounds"
printf '%-44s %10s %10s %12s\n' "" "least ns" "median ns" "least / ours"
least=$(minimum ours)
for contender in "${contenders[@]}" limit; do
  if [[ ! -s $work/$contender ]]; then
    printf '%-44s gave no figure\n' "${title[$contender]}"
    continue
  fi
  awk -v name="${title[$contender]}" -v least="$(minimum "$contender")" \
    -v median="$(median "$contender")" -v ours="$least" \
    'BEGIN { printf "%-44s %10.1f %10.1f %12.2f\n", name, least, median, least / ours }'
done
