#!/usr/bin/env bash
# Sourced by the tests of this folder with their arguments: installs into a fresh folder outside the
# clone, and goes to another one there, with the examples in it.
#
#   source tests/outside/outside.sh PREFIX_TAR
#
# Sets `prefix`, the folder that was installed in; `work`, in which everything is; and `clone`.
set -euo pipefail
# shellcheck disable=SC2034  # for those who source this
clone=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/installed
mkdir "$prefix" "$work/project"
tar -C "$prefix" -xf "$1"
if readelf -d "$prefix/lib/libsplitphase.so" | grep -E 'lib(asan|tsan|ubsan)'; then
  echo "skipped: programs would have to be compiled with that sanitizer, too"
  exit 0
fi
cp -rL examples "$work/project"
cd "$work/project"

# A file that only one process could remove; splitcrun itself notices who leaves early.
unset TEST_PREMATURE_EXIT_FILE

fail() {
  printf 'FAILED: %s\n' "$@" >&2
  exit 1
}

# needs PROGRAM...: leaves, as a test that has passed, where one is not installed.
needs() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null && continue
    echo "skipped: $program is not installed (third_party/test_packages.txt)"
    exit 0
  done
}

# lay_clone FOLDER: what packaging/ needs of a clone; and in FOLDER/bazel-bin what Bazel has built.
lay_clone() {
  mkdir -p "$1/bazel-bin/packaging"
  tar -C "$clone" --exclude=prefix.tar --exclude=prebuilt -chf - \
    CMakeLists.txt README.md am benchmarks docs examples packaging shmem splitc | tar -C "$1" -xf -
  cp -rL "$clone/packaging/prebuilt" "$1/bazel-bin/packaging"
}

# prints TEXT PROGRAM [ARGUMENTS]: on two processes it prints these lines, in any order.
prints() {
  local got
  got=$("$prefix/bin/splitcrun" -n 2 --timeout 60 "${@:2}" | LC_ALL=C sort) ||
    fail "exit code of ${*:2}"
  [[ $got == "$1" ]] || fail "${*:2} prints:" "$got"
  echo "passed: ${*:2}"
}

# says_hello PROGRAM: it is examples/hello_splitc.cc.
says_hello() {
  prints "\
all mail together: 3
process 0 of 2 was greeted by 1
process 1 of 2 was greeted by 0
the greeters, by process: 1 0" "$@"
}

# asks PROGRAM: it is examples/hello_am.cc.
asks() {
  prints "\
rank 0 says that 11 squared is 121
rank 1 says that 10 squared is 100" "$@"
}

# exchanges PROGRAM: it is examples/zero_copy_exchange.cc.
exchanges() {
  prints "\
rank 0 has seen all blocks: 10000000000
rank 1 has seen all blocks: 10000000000" "$@"
}

# counts PROGRAM: it is examples/word_count.c.
counts() {
  printf 'one two two three Three THREE' >words
  local got
  got=$("$prefix/bin/splitcrun" -n 2 --timeout 60 "$1" words) || fail "exit code of $1"
  [[ $got == $'6 words, 3 of them different\n      3 three\n      2 two\n      1 one' ]] ||
    fail "$1 prints:" "$got"
  echo "passed: $1"
}

# agrees PROGRAM [ARGUMENTS]: a larger example, which itself compares its results with serial ones.
agrees() {
  "$prefix/bin/splitcrun" -n 2 --timeout 60 "$@" || fail "exit code of $*"
  echo "passed: $*"
}

# is_linked_with_shared PROGRAM, is_linked_with_static PROGRAM: how it gets the library.
is_linked_with_shared() {
  readelf -d "$1" | grep -q 'NEEDED.*libsplitphase\.so\.0' || fail "$1 does not need the library"
}
is_linked_with_static() {
  ! readelf -d "$1" | grep -q libsplitphase || fail "$1 needs the shared library"
}
