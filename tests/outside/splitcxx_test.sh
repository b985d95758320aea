#!/usr/bin/env bash
# splitc++: what it builds, and what it says that it would run.
source tests/outside/outside.sh
needs g++
# Under a name with a space, and through a link, as in ~/bin.
mv "$prefix" "$work/a place"
prefix="$work/a place"
ln -s "$prefix/bin/splitc++" link

./link -O2 examples/zero_copy_exchange.cc -o exchange
is_linked_with_shared exchange
exchanges ./exchange

./link -c examples/hello_splitc.cc -o hello.o
./link hello.o -o hello
says_hello ./hello
# What the shared library itself sends, which is not in the program.
"$prefix/bin/splitcrun" -n 3 --nodes 2 --stats ./hello >/dev/null 2>statistics ||
  fail "with --stats it says:" "$(<statistics)"
grep -q "statistics of 3 processes on 2 nodes" statistics || fail "--stats prints:" "$(<statistics)"
echo "passed: --stats with the shared library"
./link -static-libsplitphase hello.o -o hello_static
is_linked_with_static hello_static
says_hello ./hello_static

# shows PATTERN ARGUMENTS...: what it would run is so.
shows() {
  local got
  got=$("$prefix/bin/splitc++" -show "${@:2}")
  # shellcheck disable=SC2053
  [[ $got == $1 ]] || fail "splitc++ -show ${*:2} prints:" "$got"
  echo "passed: -show ${*:2}"
}
place=$(printf %q "$prefix")
checked='-DSPLITPHASE_CHECKED=[01]'
align='-falign-functions=64 -falign-loops=64'
shows "g++ -std=c++20 -I${place//\\/\\\\}/include/splitphase $checked $align a.cc -L* -lsplitphase" a.cc
shows "g++ -std=c++20 * $checked $align -c a.cc" -c a.cc
shows "g++ -I* $checked $align -std=c++23 a.cc -L*" -std=c++23 a.cc
shows "g++ -std=c++20 * $checked a.cc -L*" -no-align a.cc
shows "g++ * a.cc */lib/libsplitphase.a *-pthread*" -static-libsplitphase a.cc

if command -v clang++ >/dev/null; then
  SPLITPHASE_CXX=clang++ "$prefix/bin/splitc++" -Wall -Wextra -Werror examples/hello_am.cc -o clang
  asks ./clang
fi

# What it prints can be run.
eval "$("$prefix/bin/splitc++" -show hello.o -o again)"
says_hello ./again

said=$(SPLITPHASE_CXX=no-such-compiler "$prefix/bin/splitc++" a.cc 2>&1) && fail "no compiler"
[[ $said == "splitc++: there is no compiler 'no-such-compiler'; "* ]] || fail "it says: $said"
"$prefix/bin/splitc++" --version | grep -q g++ || fail "splitc++ --version"
