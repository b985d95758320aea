#!/usr/bin/env bash
# A program that is compiled for the other build than that of the library does not link, and the
# linker's message says why.
source tests/outside/outside.sh
needs g++
here=$(sed -n 's/^Cflags.*SPLITPHASE_CHECKED=\([01]\).*/\1/p' "$prefix/lib/pkgconfig/splitphase-am.pc")
other=$((1 - here))
builds=(release checked)
sentence="splitphase_a_${builds[other]}_program_needs_the_${builds[other]}_library__"
sentence+="or_compile_it_with_DSPLITPHASE_CHECKED_$here"

include=(-std=c++20 -I"$prefix/include/splitphase")
shared=(-L"$prefix/lib" "-Wl,-rpath,$prefix/lib" -lsplitphase)
read -ra static < <(sed -n 's/^static_libs=.*libsplitphase.a//p' \
  "$prefix/lib/pkgconfig/splitphase-am.pc")
static=("$prefix/lib/libsplitphase.a" "${static[@]}")
g++ "${include[@]}" -DSPLITPHASE_CHECKED="$here" -c examples/hello_splitc.cc -o same.o
g++ "${include[@]}" -DSPLITPHASE_CHECKED="$other" -O2 -ffunction-sections -fdata-sections \
  -c examples/hello_splitc.cc -o other.o
# Any of the headers, and nothing of the library used.
echo '#include "am/am.h"' >idle.cc
g++ "${include[@]}" -DSPLITPHASE_CHECKED="$other" -c idle.cc -o idle.o

# refused WHAT ARGUMENTS...: g++ does not link them and says the sentence.
refused() {
  local said
  said=$(g++ "${@:2}" -o program 2>&1) && fail "$1 links"
  grep -q "undefined reference to .$sentence" <<<"$said" || fail "$1:" "$said"
  echo "passed: $1 is refused"
}
refused "a program of the other build" other.o "${shared[@]}"
refused "the same with the static library" other.o "${static[@]}"
refused "the same without unused sections" -Wl,--gc-sections other.o "${static[@]}"
refused "one object of several" same.o idle.o "${shared[@]}"
refused "one object of several, first" idle.o same.o "${static[@]}"

g++ same.o -o same "${shared[@]}"
says_hello ./same

# A shared library may leave symbols to others, so it links; but nothing that needs it runs.
g++ "${include[@]}" -DSPLITPHASE_CHECKED="$other" -fPIC -shared idle.cc -o libidle.so "${shared[@]}"
echo 'int main() {}' >main.cc
g++ main.cc -o main -Wl,--no-as-needed,--allow-shlib-undefined ./libidle.so "${shared[@]}"
said=$(./main 2>&1) && fail "a shared library of the other build runs"
grep -q "undefined symbol: $sentence" <<<"$said" || fail "it says:" "$said"

# Without a word about the build NDEBUG decides, as in the clone.
asserts=(-UNDEBUG -DNDEBUG)
g++ "${include[@]}" "${asserts[1 - here]}" -c examples/hello_splitc.cc -o plain.o
g++ plain.o -o plain "${shared[@]}"
says_hello ./plain

said=$(g++ -std=c++17 -I"$prefix/include/splitphase" -c idle.cc 2>&1) && fail "C++17 compiles"
grep -q "Splitphase needs C++20: compile with -std=c++20" <<<"$said" || fail "it says:" "$said"
