#!/usr/bin/env bash
# docs/porting.md: splitc2cc makes of the first program what the page says, and it prints the same as
# the one that replaces it.
set -euo pipefail
splitcrun=$1 splitc2cc=$2 before=$3 after=$4 source=$5 translated=$6

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp "$source" "$copy/neighbour.sc"
diff <(cd "$copy" && "$OLDPWD/$splitc2cc" neighbour.sc) "$translated"

for count in 1 3; do
  diff <("$splitcrun" -n "$count" "$before" | sort) <("$splitcrun" -n "$count" "$after" | sort)
done
[[ $("$splitcrun" -n 3 "$before" | sort) == $'0: my neighbour has 166500
1: my neighbour has 166833
2: my neighbour has 166167
element 7 is 7' ]]
