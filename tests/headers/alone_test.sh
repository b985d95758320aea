#!/usr/bin/env bash
# Every header of the library compiles alone.
source tests/headers/compilers.sh
count=0
while read -r header; do
  case $header in
    *mpi*) continue ;;                 # needs an MPI library's compiler
    splitc/compat/split-c/*) continue ;;  # C's, which splitcc includes
  esac
  count=$((count + 1))
  includes "$header" | silent "$(command -v g++ || command -v clang++)" "$header" -std=c++20
done < <(find am splitc shmem rdma -name '*.h' | sort)
echo "$count headers"
exit "$failed"
