#!/usr/bin/env bash
# The headers have no warning, as no system headers, with each compiler and in each language that the
# library is for. (C++23 by the name that older compilers have for it.)
source tests/headers/compilers.sh
strict=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion)
for compiler in "${compilers[@]}"; do
  for options in "-std=c++20" "-std=c++20 -fno-rtti -DNDEBUG" "-std=c++2b"; do
    read -ra options <<<"$options"
    includes "${entries[@]}" | silent "$compiler" "all" "${strict[@]}" "${options[@]}"
  done
done
exit "$failed"
