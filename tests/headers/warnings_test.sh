#!/usr/bin/env bash
# The headers have no warning, as no system headers, with each compiler and in each language that the
# library is for, nor have the templates that a program instantiates. (C++23 by the name that older compilers
# have for it.) Without "all", two of these differ in everything.
source tests/headers/compilers.sh
languages=("-std=c++20" "-std=c++2b -fno-rtti -DNDEBUG")
[[ ${1-} != all ]] || languages+=("-std=c++20 -fno-rtti -DNDEBUG" "-std=c++2b")
strict=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion)
for compiler in "${compilers[@]}"; do
  for options in "${languages[@]}"; do
    read -ra options <<<"$options"
    includes "${entries[@]}" examples/task_runtime.cc | silent "$compiler" "all" "${strict[@]}" "${options[@]}"
  done
done
exit "$failed"
