#!/usr/bin/env bash
# A project of CMake that has this clone within itself, and compiles the library with its own program: by
# add_subdirectory, or, if the argument is `fetch`, by FetchContent from the clone's repository. The library's own
# unit tests and a job of them run there, too. Not a test of Bazel's, which compiles nothing twice; .ci/run
# calls it.
set -euo pipefail
clone=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$clone/examples/hello_splitc.cc" .
cat >CMakeLists.txt <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.18)
project(foreign CXX)
enable_testing()
if(FETCH)
  include(FetchContent)
  FetchContent_Declare(Splitphase GIT_REPOSITORY file://${CLONE} GIT_TAG HEAD)
  FetchContent_MakeAvailable(Splitphase)
else()
  add_subdirectory(${CLONE} splitphase)
endif()
add_executable(hello hello_splitc.cc)
target_link_libraries(hello PRIVATE Splitphase::splitc)
add_test(NAME hello COMMAND ${Splitphase_SPLITCRUN} -n 4 --nodes 2 $<TARGET_FILE:hello>)
# One target, so that all of these are compiled side by side.
add_custom_target(wanted)
add_dependencies(wanted hello splitphase shmem_memory_test messages_test)
END_OF_FILE
fetch=OFF
[[ ${1:-} != fetch ]] || fetch=ON
# Not optimized: that it compiles and runs is what matters.
cmake -S . -B build -DCLONE="$clone" -DFETCH="$fetch" -DSPLITPHASE_TESTS=ON -DSPLITPHASE_CXX_FLAGS=-O0
cmake --build build -j "$(nproc)" --target wanted
ctest --test-dir build --output-on-failure -R '^(hello|(shmem_memory|messages)_test.*)$'
