#!/usr/bin/env bash
# ./measure measures some chapters with little work; how fast it was does not matter. Its page is read by a
# parser and, where Chromium is installed, by that.
#
#   measure_test.sh MEASURE SPLITCRUN CHECK FIGURES_TEST FIGURES
set -euo pipefail
measure=$PWD/$1
check=$PWD/$3
bin=$(cd "$(dirname "$2")/../.." && pwd)
unset TEST_PREMATURE_EXIT_FILE  # a file that only one process could remove
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

python3 -B "$4" "$(dirname "$5")"

page=$out/made/beside-others.html
"$measure" --trial --rounds 1 --bin "$bin" --out "$out/made" --only round_trips --only rates --only start 2>"$out/progress"
cat "$out/progress" >&2
grep -q "^rates, round 1" "$out/progress" || fail "it does not say where it is"
python3 -B "$check" "$page" "$out/made/figures.csv" round_trip_node round_trip_tcp rate start memory
grep -q "a trial with hardly any work" "$page" || fail "a trial is taken for a measurement"
(($(grep -c "<svg" "$page") >= 3)) || fail "plots are missing"

if command -v chromium >/dev/null; then
  HOME=$out timeout 250 chromium --headless --no-sandbox --disable-gpu --disable-quic \
    --no-first-run --disable-background-networking --disable-component-update --disable-sync \
    --user-data-dir="$out/chromium" --dump-dom "file://$page" >"$out/dom" 2>"$out/errors" ||
    fail "Chromium: $(tail -n 3 "$out/errors")"
  grep -q "Where another is ahead" "$out/dom" || fail "Chromium shows nothing"
  ! grep -q "Uncaught" "$out/errors" || fail "Chromium complains"
else
  echo "Chromium is not installed: the page is not opened" >&2
fi

for wrong in "--rounds 0" "--minutes 0" "--only nothing" "--nonsense"; do
  if "$measure" --bin "$bin" $wrong 2>/dev/null >&2; then fail "$wrong was accepted"; fi
done
