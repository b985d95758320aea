#!/usr/bin/env bash
# timeline_test.sh TIMELINE LAUNCHER EM3D: the picture of a real job's trace, of all of it and of a
# part, and what is no trace.
set -euo pipefail
timeline=$1 launcher=$2 em3d=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

# refused WORDS ARGUMENT...: exit code 1, no picture, and the sentence has the words.
refused() {
  if "$timeline" "${@:2}" --out "$work/none.svg" 2>"$work/said"; then fail "took ${*:2}"; fi
  grep -q -- "$1" "$work/said" || fail "${*:2}: said $(<"$work/said")"
  [[ ! -e $work/none.svg ]] || fail "wrote a picture of nothing"
}
# count WORDS FILE
count() { grep -c -- "$1" "$2" || true; }

trace=$work/out.json
"$launcher" -n 4 --nodes 2 --trace "$trace" "$em3d" --size 40 --degree 5 --steps 3 --version channel \
  >/dev/null 2>"$work/err" || fail "em3d: $(<"$work/err")"
"$timeline" "$trace" --out "$work/all.svg"
python3 -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1])' "$work/all.svg"
(($(count '<g><title>' "$work/all.svg") == $(count '"ph":"X"' "$trace"))) || fail "slices are missing"
(($(count 'class="arrow"' "$work/all.svg") == $(count '"ph":"s"' "$trace"))) || fail "arrows are missing"
(($(count '<title>.* at [0-9.]* us' "$work/all.svg") == $(count '"ph":"i"' "$trace"))) ||
  fail "marks are missing"
for rank in 0 1 2 3; do
  grep -q ">rank $rank node $((rank / 2))<" "$work/all.svg" || fail "no name of rank $rank"
done

# From the first put on a channel to the last.
mapfile -t puts < <(grep '"name":"channel put"' "$trace" | sed 's/.*"ts":\([0-9.]*\).*/\1/' | sort -n)
"$timeline" "$trace" --begin "${puts[0]}" --end "${puts[-1]}" --out "$work/part.svg"
(($(count '<title>channel put' "$work/part.svg") == ${#puts[@]} - 1)) || fail "puts on channels are missing"
! grep -q '<title>the end of run' "$work/part.svg" || fail "shows what comes later"

# A trace that was cut, as where a disk is full: names stand at its end. At some byte, and where what
# is left of an event ends as a whole one does.
head -c 5000 "$trace" >"$work/cut.json"
printf %s "$(awk '{ print } /"ph":"X".*"args"/ && ++n == 10 { exit }' "$trace" | sed '$ s/}},*$/}/')" \
  >"$work/cut_at_brace.json"
for cut in cut cut_at_brace; do
  "$timeline" "$work/$cut.json" --out "$work/$cut.svg" 2>"$work/said" || fail "$cut: $(<"$work/said")"
  grep -q "$cut.json has no end" "$work/said" || fail "says nothing of a cut trace"
  grep -q ">rank [0-3]<" "$work/$cut.svg" || fail "a cut trace shows nothing"
done

# Names that are no XML, and nothing that takes time.
sed 's/"name":"barrier"/"name":"<\&\\u0001\\ufffe"/; s/"dur":[0-9.]*/"dur":0.000/' "$trace" >"$work/odd.json"
"$timeline" "$work/odd.json" --out "$work/odd.svg"
python3 -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1])' "$work/odd.svg"

for times in "--begin 2 --end 1" "--begin 2 --end 2" "--begin nan" "--begin -1"; do
  refused "nothing lies between them" "$trace" $times
done
refused "nothing happens then" "$trace" --end 0.5
refused "not a trace" "$0"
refused "nowhere" "$work/nowhere"
awk '{ print } NR == 2 { for (i = 0; i < 20001; ++i)
  print "{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":1,\"dur\":1,\"cat\":\"wait\",\"name\":\"sync\"}," }' \
  "$trace" >"$work/large.json"
refused "more than 20,000 slices" "$work/large.json"
