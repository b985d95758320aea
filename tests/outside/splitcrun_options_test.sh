#!/usr/bin/env bash
# splitcrun's manual page and its completion know the options that splitcrun --help lists, and no
# others.
source tests/outside/outside.sh

options=$("$prefix/bin/splitcrun" --help | sed -n '/^Options:/,/^$/ s/^  \(-[^ ]*\).*/\1/p' |
  tr ',' '\n' | sort)
(($(wc -l <<<"$options") > 10)) || fail "splitcrun --help lists:" "$options"

manual=$(sed 's/\\//g' "$prefix/share/man/man1/splitcrun.1" |
  sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/ { /^\.TP/ { n; p } }' | grep -oE -- '--?[a-z-]+' | sort)
[[ $manual == "$options" ]] || fail "the manual page has:" "$manual" "and --help:" "$options"
echo "passed: the manual page"

# shellcheck disable=SC1091
source "$prefix/share/bash-completion/completions/splitcrun"
# completes LINE: what bash would offer for its last word, sorted, one a line.
completes() {
  read -ra COMP_WORDS <<<"$1"
  [[ $1 != *' ' ]] || COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _splitcrun
  printf '%s\n' "${COMPREPLY[@]}" | sort
}
offered=$(completes "splitcrun -")
[[ $offered == "$options" ]] || fail "the completion has:" "$offered" "and --help:" "$options"

# offers LINE WORDS: exactly these, on one line.
offers() {
  local got
  got=$(completes "$1" | xargs)
  [[ $got == "$2" ]] || fail "for '$1' it offers: $got"
  echo "passed: $1"
}
offers "splitcrun --bind " "auto core l3 none numa socket"
offers "splitcrun --bind = c" core
offers "splitcrun -n 4 --lab" --label
offers "splitcrun -n 4 --bind = core --lab" --label
offers "splitcrun -n " ""
mkdir data
touch data/input hello
chmod +x hello
offers "splitcrun -n 4 ./hel" ./hello
offers "splitcrun -n 4 ./hello data/" data/input
offers "splitcrun -- ./hello data/" data/input

# As the manual page says.
code=0
"$prefix/bin/splitcrun" -n 1 ./no-such-program 2>/dev/null || code=$?
((code == 127)) || fail "exit code $code of a program that is not there"
