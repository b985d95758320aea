#!/usr/bin/env bash
# A program of OpenMP threads that each use the global address space, built against what is installed.
source tests/outside/outside.sh
needs g++ pkg-config
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
if ! echo 'int main() {}' | g++ -fopenmp -x c++ - -o has_openmp; then
  echo "skipped: g++ has no OpenMP"
  exit 0
fi

# As words: what pkg-config prints are arguments.
# shellcheck disable=SC2046
g++ -std=c++20 -O2 -fopenmp examples/threads/jacobi_openmp.cc -o jacobi \
  $(pkg-config --cflags --libs splitphase-splitc) -Wl,-rpath,"$(pkg-config --variable=libdir splitphase-splitc)"
for shape in "-n 1" "-n 3" "-n 4 --nodes 2"; do
  # shellcheck disable=SC2086  # several words
  got=$(OMP_NUM_THREADS=3 "$prefix/bin/splitcrun" $shape --timeout 100 ./jacobi 60 40) ||
    fail "exit code of jacobi, $shape"
  [[ $got == *" of 3 threads: sum "*" as alone, "* ]] || fail "jacobi, $shape, prints:" "$got"
  echo "passed: OpenMP, $shape"
done
