#!/usr/bin/env bash
# Programs whose threads are those of OpenMP and oneTBB, and each use the global address space, built
# against what is installed.
source tests/outside/outside.sh
needs g++ pkg-config
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig

# check NAME OUTPUT OPTION...: builds examples/threads/NAME.cc with these options, and runs it, which
# prints OUTPUT.
check() {
  local name=$1 expected=$2 shape got
  # As words: what pkg-config prints are arguments.
  # shellcheck disable=SC2046
  g++ -std=c++20 -O2 "examples/threads/$name.cc" -o "$name" "${@:3}" \
    $(pkg-config --cflags --libs splitphase-splitc) -Wl,-rpath,"$(pkg-config --variable=libdir splitphase-splitc)"
  for shape in "-n 1" "-n 3" "-n 4 --nodes 2"; do
    # shellcheck disable=SC2086  # several words
    got=$(OMP_NUM_THREADS=3 "$prefix/bin/splitcrun" $shape --timeout 100 "./$name" 60 3) ||
      fail "exit code of $name, $shape"
    # shellcheck disable=SC2053  # a pattern
    [[ $got == $expected ]] || fail "$name, $shape, prints:" "$got"
    echo "passed: $name, $shape"
  done
}

if echo 'int main() {}' | g++ -fopenmp -x c++ - -o has_openmp; then
  check jacobi_openmp "* of 3 threads: sum * as alone, *" -fopenmp
else
  echo "skipped: g++ has no OpenMP"
fi
if echo 'int main() {}' | g++ -x c++ - -o has_tbb -ltbb 2>/dev/null; then
  check levels_tbb "60 vertices, * of 3 threads: * as alone" -ltbb
else
  echo "skipped: oneTBB (libtbb-dev) is missing"
fi
