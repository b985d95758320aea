#!/usr/bin/env bash
# docs/fragments.md: its Split-C and its C++ print the same on any number of processes, on one node and
# on several, and on 3 what the page says.
set -euo pipefail
splitcrun=$1 split_c=$2 cpp=$3 output=$4

for shape in "1 1" "3 1" "4 2"; do
  read -r count nodes <<<"$shape"
  options=(-n "$count" --nodes "$nodes")
  of_split_c=$("$splitcrun" "${options[@]}" "$split_c" | sort)
  of_cpp=$("$splitcrun" "${options[@]}" "$cpp" | sort)
  diff <(echo "$of_split_c") <(echo "$of_cpp")
  [[ $count != 3 ]] || diff <(echo "$of_cpp") "$output"
done
