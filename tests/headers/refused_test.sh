#!/usr/bin/env bash
# Where the language is another than the library's, one sentence says so, and nothing else.
source tests/headers/compilers.sh

# refuses COMPILER HEADER OPTION SENTENCE: it says that and nothing else when compiling the header.
refuses() {
  local errors
  errors=$(includes "$2" | "$1" -x c++ -fsyntax-only -I. -std=c++20 "$3" - 2>&1 | grep 'error:') || true
  if [[ $errors != *"$4"* || $errors == *$'\n'* ]]; then
    printf 'failed: %s, %s, %s\n%s\n' "$2" "$1" "$3" "$errors"
    failed=1
  fi
}
for compiler in "${compilers[@]}"; do
  for header in "${entries[@]}" splitc/with_mpi.h; do
    [[ $header == am/c/* ]] && continue
    refuses "$compiler" "$header" -std=c++17 "Splitphase needs C++20: compile with -std=c++20"
    refuses "$compiler" "$header" -fno-exceptions \
      "Splitphase needs exceptions: compile without -fno-exceptions"
  done
done
exit "$failed"
