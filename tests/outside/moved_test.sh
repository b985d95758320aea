#!/usr/bin/env bash
# What was installed works in another place, in each of its ways.
source tests/outside/outside.sh
needs g++ pkg-config

# Nothing says where it was made or unpacked.
if grep -rIl -e "$clone" -e "$work" "$prefix"; then fail "these files name a folder"; fi

mkdir -p "$work/other/deep"
mv "$prefix" "$work/other/deep/place"
prefix=$work/other/deep/place

"$prefix/bin/splitc++" examples/hello_splitc.cc -o hello
says_hello ./hello

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046
g++ -std=c++20 examples/hello_am.cc -o hello_am $(pkg-config --cflags --libs splitphase-am) \
  -Wl,-rpath,"$(pkg-config --variable=libdir splitphase-am)"
asks ./hello_am

needs cmake make
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(moved CXX)
find_package(Splitphase REQUIRED)
add_executable(hello examples/hello_splitc.cc)
target_link_libraries(hello Splitphase::splitc)
END
cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix"
cmake --build build
says_hello build/hello
