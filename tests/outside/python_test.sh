#!/usr/bin/env bash
# The library in a program that opens it while it runs: Python's ctypes, with threads, other programs
# and forked children beside it.
source tests/outside/outside.sh
needs python3 g++ readelf
export SPLITPHASE_LIBRARY=$prefix/lib/libsplitphase.so.0

# What is left for libraries that are opened later may be 512 bytes in all.
bytes=$(($(readelf -lW "$SPLITPHASE_LIBRARY" | awk '$1 == "TLS" { print $6 }')))
((bytes > 0 && bytes <= 512)) || fail "each thread has $bytes bytes of the library's"
! readelf -d "$SPLITPHASE_LIBRARY" | grep STATIC_TLS || fail "it needs thread-local memory at the start"

for shape in "-n 1" "-n 3" "-n 3 --nodes 2"; do
  # shellcheck disable=SC2086  # several words
  got=$("$prefix/bin/splitcrun" $shape --timeout 60 python3 examples/from_python/primes.py 20000) ||
    fail "exit code of primes.py, $shape"
  [[ $got == "2262 primes below 20000" ]] || fail "primes.py, $shape, prints:" "$got"
  # shellcheck disable=SC2086
  "$prefix/bin/splitcrun" $shape --timeout 60 python3 "$clone/tests/outside/in_python.py" ||
    fail "exit code of in_python.py, $shape"
  echo "passed: Python, $shape"
done

# A library of one's own that has this one in it, static.
cat >plugin.cc <<'END'
#include "splitc/splitc.h"
extern "C" unsigned sum_of_ranks(int argc, char** argv) {
  unsigned sum = 0;
  splitc::run(argc, argv, [&](splitc::Args) { sum = splitc::all_reduce(splitc::my_proc(), std::plus()); });
  return sum;
}
END
"$prefix/bin/splitc++" -O1 -fPIC -shared -static-libsplitphase plugin.cc -o plugin.so
is_linked_with_static plugin.so
cat >plugin.py <<'END'
import ctypes
import sys
plugin = ctypes.CDLL('./plugin.so')
sys.stdout.write(f"{plugin.sum_of_ranks(1, (ctypes.c_char_p * 2)(b'plugin', None))}\n")
END
prints $'1\n1' python3 plugin.py
