#!/usr/bin/env bash
# The README has a page, and its program has ten lines and does what it says.
set -euo pipefail

splitcrun=$1
program=$2
source=$3
page=$4

(($(wc -l <"$page") <= 120)) || { echo "the README has more than 120 lines" >&2; exit 1; }
lines=$(wc -l <"$source")
((lines == 10)) || { echo "the README's program has $lines lines, not 10" >&2; exit 1; }

for count in 1 4; do
  expected=$(for ((i = 0; i < count; ++i)); do
    echo "process $i was greeted by $(((i + count - 1) % count))"
  done)
  got=$("$splitcrun" -n "$count" "$program" | sort)
  [[ $got == "$expected" ]] || { printf 'on %s processes:\n%s\n' "$count" "$got" >&2; exit 1; }
done
