#!/usr/bin/env bash
# A project of CMake that finds the library, shared and static; or has it within itself.
source tests/outside/outside.sh
needs g++ cmake make
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(outside C CXX)
if(WAY STREQUAL "subdirectory")
  add_subdirectory(clone)
elseif(WAY STREQUAL "fetch")
  include(FetchContent)
  FetchContent_Declare(Splitphase SOURCE_DIR ${CMAKE_SOURCE_DIR}/clone)
  FetchContent_MakeAvailable(Splitphase)
else()
  find_package(Splitphase 0.8 REQUIRED COMPONENTS splitc am am2)
endif()

add_executable(hello examples/hello_splitc.cc)
target_link_libraries(hello PRIVATE Splitphase::splitc)

if(NOT WAY)
  add_executable(hello_am examples/hello_am.cc)
  target_link_libraries(hello_am PRIVATE Splitphase::am)
endif()

add_executable(word_count examples/word_count.c)
target_link_libraries(word_count PRIVATE Splitphase::am2)

if(WITH_EM3D)
  file(GLOB em3d examples/em3d/*.cc examples/command_line.cc examples/progress.cc)
  add_executable(em3d ${em3d})
  set_target_properties(em3d PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_include_directories(em3d PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(em3d PRIVATE Splitphase::splitc)
endif()

enable_testing()
add_test(NAME job COMMAND ${Splitphase_SPLITCRUN} -n 2 $<TARGET_FILE:hello>)
END

# builds FOLDER [OPTIONS]: configures and builds there.
builds() {
  cmake -S . -B "$1" -DCMAKE_PREFIX_PATH="$prefix" "${@:2}" || fail "configuring $1"
  cmake --build "$1" -j 2 || fail "building $1"
}

builds shared -DWITH_EM3D=ON
is_linked_with_shared shared/hello
says_hello shared/hello
asks shared/hello_am
counts shared/word_count
agrees shared/em3d --size 200
(cd shared && ctest) || fail "the test that CMake runs"

# Release: the library's build is the library's matter, whatever NDEBUG says of the program's.
builds static -DSplitphase_USE_STATIC_LIBS=ON -DCMAKE_BUILD_TYPE=Release
is_linked_with_static static/hello
says_hello static/hello
asks static/hello_am
counts static/word_count

# With the sources of the library, of which Bazel has compiled what is compiled.
lay_clone clone
within=(-DSPLITPHASE_PREBUILT="$PWD/clone/bazel-bin/packaging/prebuilt")
builds subdirectory -DWAY=subdirectory "${within[@]}"
is_linked_with_shared subdirectory/hello
says_hello subdirectory/hello
counts subdirectory/word_count
(cd subdirectory && ctest) || fail "the test that CMake runs"
builds fetch -DWAY=fetch "${within[@]}" -DSplitphase_USE_STATIC_LIBS=ON
is_linked_with_static fetch/hello
says_hello fetch/hello
counts fetch/word_count

# aligns FOLDER COUNT: so many programs of C++ are compiled with the flags for alignment.
aligns() {
  local count
  count=$(cat "$1"/CMakeFiles/hello*.dir/flags.make | grep -c 'CXX_FLAGS.*-falign-functions=64') || true
  ((count == $2)) || fail "in $1 $count programs are aligned"
}
aligns shared 2
aligns fetch 1
for way in find subdirectory; do
  cmake -S . -B plain -DWAY=$way -DSPLITPHASE_ALIGN_LOOPS=OFF -DCMAKE_PREFIX_PATH="$prefix" \
    "${within[@]}" || fail "configuring without alignment"
  aligns plain 0
done

# A project that has no C++.
mkdir only_c
cat >only_c/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(only_c C)
find_package(Splitphase REQUIRED COMPONENTS am2)
add_executable(word_count ../examples/word_count.c)
target_link_libraries(word_count PRIVATE Splitphase::am2)
END
for static in OFF ON; do
  cmake -S only_c -B only_c/$static -DCMAKE_PREFIX_PATH="$prefix" \
    -DSplitphase_USE_STATIC_LIBS=$static || fail "configuring a project of C"
  cmake --build only_c/$static || fail "building a project of C"
  counts only_c/$static/word_count
done

# refused WHAT SENTENCE: find_package(Splitphase WHAT) says the sentence.
refused() {
  mkdir -p refused
  printf 'cmake_minimum_required(VERSION 3.13)\nproject(x NONE)\nfind_package(Splitphase %s)\n' \
    "$1" >refused/CMakeLists.txt
  local said
  said=$(cmake -S refused -B refused/build -DCMAKE_PREFIX_PATH="$prefix" 2>&1) &&
    fail "Splitphase $1 is found"
  tr -s ' \n' ' ' <<<"$said" | grep -qF "$2" || fail "of Splitphase $1 it says:" "$said"
  echo "passed: Splitphase $1 is refused"
}
refused "REQUIRED COMPONENTS upc" "no component upc; there are am, am2 and splitc"
refused "0.7 REQUIRED" 'compatible with requested version "0.7"'
refused "99 REQUIRED" 'compatible with requested version "99"'
