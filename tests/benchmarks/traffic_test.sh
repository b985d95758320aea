#!/usr/bin/env bash
# traffic_test.sh TRAFFIC LAUNCHER EM3D: the picture of a real job's traffic, and what is no report.
set -euo pipefail
traffic=$1 launcher=$2 em3d=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
command -v gnuplot >/dev/null || fail "no gnuplot here (Debian: gnuplot-nox)"

# refused WORDS ARGUMENT...: exit code 1, and the sentence has the words.
refused() {
  if "$traffic" "${@:2}" --out "$work/none.svg" 2>"$work/said"; then fail "took ${*:2}"; fi
  grep -q "$1" "$work/said" || fail "${*:2}: said $(<"$work/said")"
}

job=("$em3d" --size 40 --degree 5 --steps 2 --version get)
"$launcher" -n 4 --nodes 2 --stats=json "${job[@]}" >/dev/null 2>"$work/report"
for of in bytes operations; do
  "$traffic" "$work/report" --of "$of" --out "$work/$of.svg"
  grep -q "$of with other nodes: 4 processes on 2 nodes" "$work/$of.svg" || fail "no title in $of.svg"
  (($(grep -c "<polygon" "$work/$of.svg") >= 8)) || fail "fewer places in $of.svg than had traffic"
done
cmp -s "$work/bytes.svg" "$work/operations.svg" && fail "bytes and operations give one picture"
"$traffic" - --out "$work/piped.svg" <"$work/report"
cmp "$work/bytes.svg" "$work/piped.svg" || fail "standard input gives another picture"

"$launcher" -n 2 --stats=json "${job[@]}" >/dev/null 2>"$work/near"
refused "nothing went to another node" "$work/near"
refused "no line of it is a report" "$0"
refused "nowhere: not found" "$work/nowhere"
if "$traffic" "$work/report" --out "$work/nowhere/x.svg" 2>"$work/said"; then fail "wrote into no folder"; fi
grep -q "x.svg: not found" "$work/said" || fail "said $(<"$work/said")"
[[ ! -e $work/none.svg ]] || fail "wrote a picture of nothing"
