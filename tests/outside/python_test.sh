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

# A library of one's own that has this one in it, static, or beside it: its functions may be called in
# other processes once it has been named, and not before.
cat >plugin.cc <<'END'
#include <atomic>
#include <cstdio>
#include <string_view>
#include <thread>
#include "splitc/splitc.h"
using namespace splitc;
namespace {
unsigned square(unsigned x) { return x * x; }
bool is_refused() {
  try {
    rpc((my_proc() + 1) % procs(), &square, 1u);
    return procs() == 1;
  } catch (const Error& error) {
    return std::string_view(error.what()).find("add_library") != std::string_view::npos;
  }
}
}  // namespace
extern "C" unsigned sum_of_squares(int argc, char** argv) {
  unsigned sum = 0;
  const int code = run(argc, argv, [&](Args) {
    if (!is_refused()) throw Error("a function of a library that nobody has named is called");
    add_library(&square);
    add_library(&square);
    sum = all_reduce(rpc((my_proc() + 1) % procs(), &square, my_proc() + 2).result(), std::plus());
  });
  return code == 0 ? sum : 0;
}
extern "C" int names_another(int argc, char** argv) {
  return run(argc, argv, [&](Args) {
    try {
      my_proc() == 0 ? add_library(&square) : add_library(&std::puts);
    } catch (const Error& error) {
      if (std::string_view(error.what()).find("different libraries") == std::string_view::npos) throw;
      if (my_proc() == 0) std::printf("refused\n");
    }
  });
}
extern "C" unsigned calls_by_threads(int argc, char** argv) {
  std::atomic<unsigned> sum = 0;
  run(argc, argv, {.threads = 3}, [&](Args) {
    const auto call = [&] { sum += rpc((my_proc() + 1) % procs(), &square, 3u).result(); };
    const auto add = [&] {
      try {
        add_library(&square);
      } catch (const Error& error) {
        if (std::string_view(error.what()).find("than the first") != std::string_view::npos) ++sum;
      }
    };
    std::thread(add).join();
    add_library(&square);
    std::thread one(call), other(call);
    one.join();
    other.join();
  });
  return sum;
}
END
cat >plugin.py <<'END'
import ctypes
import sys
plugin = ctypes.CDLL(sys.argv[1])
sys.stdout.write(f"{getattr(plugin, sys.argv[2])(1, (ctypes.c_char_p * 2)(b'plugin', None))}\n")
END
"$prefix/bin/splitc++" -O1 -fPIC -shared -static-libsplitphase plugin.cc -o static.so
is_linked_with_static static.so
"$prefix/bin/splitc++" -O1 -fPIC -shared plugin.cc -o shared.so
is_linked_with_shared shared.so
for plugin in ./static.so ./shared.so; do
  prints $'13\n13' python3 plugin.py "$plugin" sum_of_squares
  prints $'13\n13' --nodes 2 python3 plugin.py "$plugin" sum_of_squares
  prints $'0\n0\nrefused' python3 plugin.py "$plugin" names_another
  prints $'19\n19' python3 plugin.py "$plugin" calls_by_threads
done
