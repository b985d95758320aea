#!/usr/bin/env bash
# What is refused when compiling: where the language is another than the library's, one sentence says
# so, and nothing else; and a lambda with references that is to go to another process.
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

# calls COMPILER CALL...: what is wrong with a program that makes these, where there are n and two.
calls() {
  printf '%s\n' '#include "splitc/splitc.h"' 'using namespace splitc;' \
    'struct Base { int x; }; struct Two : Base { int y; };' \
    'int main() { int n = 0; Two two{};' "${@:2}" '}' |
    "$1" -x c++ -fsyntax-only -I. -std=c++20 - 2>&1 | grep 'error:' || true
}
by_reference=('rpc(0, [&] { ++n; });' 'rpc(0, [&n] { ++n; });' 'rpc_ff(0, [&r = n, two] { r = two.y; });'
  'rpc_ff(0, [n, &two] { two.x = n; });')
# Nothing is captured, or values, one of a class with a base, or a pointer.
otherwise=('rpc(0, [] {});' 'rpc(0, [=] { return n; });' 'rpc(0, [two] { return two.y; });'
  'rpc(0, [&] { return sizeof n; });' 'rpc_ff(0, [p = &n] { ++*p; });')
for compiler in "${compilers[@]}"; do
  errors=$(calls "$compiler" "${by_reference[@]}")
  if (($(grep -c "a lambda that captures by reference" <<<"$errors") < ${#by_reference[@]})); then
    printf 'failed: %s takes a lambda that captures by reference\n%s\n' "$compiler" "$errors"
    failed=1
  fi
  errors=$(calls "$compiler" "${otherwise[@]}")
  if [[ $errors ]]; then
    printf 'failed: %s refuses a lambda that captures none\n%s\n' "$compiler" "$errors"
    failed=1
  fi
done
exit "$failed"
