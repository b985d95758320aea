#!/usr/bin/env bash
# Runs every example as four processes of a launcher, on NODES nodes, and looks at what it prints.
#
#   launch_examples.sh NODES LAUNCHER...     LAUNCHER's next argument would be how many
#
# Prints the name of each example that was right. Exit code 1: the first was wrong.
set -euo pipefail
nodes=$1
launcher=("${@:2}" 4)
((nodes == 1)) || launcher+=(tests/jobs/launch_apart.sh "$nodes")

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for ((i = 0; i < 400; i++)); do echo "$((i * 7919 % 500)) $((i * 104729 % 500))"; done >"$folder/graph"
text=tests/examples/real_text

# example LINES TEXT NAME [ARGUMENTS]: TEXT is in so many lines of what the example prints.
example() {
  local code=0
  "${launcher[@]}" "examples/$3" "${@:4}" </dev/null >"$folder/out" 2>"$folder/err" || code=$?
  if ((code == 0)) && (($(grep -cE -e "$2" "$folder/out") == $1)); then
    echo "$3"
    return
  fi
  echo "$3: exit code $code; not $1 times '$2' in:" >&2
  cat "$folder/out" "$folder/err" >&2
  exit 1
}

example 4 "^rank [0-3] says that 1[0-3] squared is 1" hello_am
example 4 "^process [0-3] of 4 was greeted by [0-3]" hello_splitc
example 2 "^ranks [0-3] and [0-3]: [0-9.]+ us" ping_pong
example 1 "in order, nothing lost" sample_sort "$text" -o "$folder/sorted"
LC_ALL=C sort "$text" | cmp - "$folder/sorted"
example 1 "equal to the serial answer" components "$folder/graph"
example 8 "equal to the serial sweep" em3d --size 50 --degree 10 --steps 2
