#!/usr/bin/env bash
# What the headers instantiate in programs has no warning either.
source tests/headers/compilers.sh
strict=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion)
for compiler in "${compilers[@]}"; do
  for program in examples/*.cc; do
    # Of programs' own warnings others are the judges.
    said=$("$compiler" -std=c++20 -fsyntax-only -I. "${strict[@]}" "$program" 2>&1 |
      grep -E '^(\./)?(am|splitc|shmem|rdma)/.*(warning|error):') || continue
    printf 'failed: %s, %s\n%s\n' "$program" "$compiler" "$said"
    failed=1
  done
done
exit "$failed"
