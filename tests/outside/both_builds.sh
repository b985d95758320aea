#!/usr/bin/env bash
# Bazel and CMake build the same: the same sources of the library, with the same definitions, and with the
# flags that .bazelrc has. Not a test of Bazel's, as it runs Bazel itself; .ci/run calls it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake -S . -B "$work/build" -DSPLITPHASE_UNITY=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DSPLITPHASE_PROGRAMS=OFF -DSPLITPHASE_TESTS=OFF >"$work/said"
sed -n "s,^ *\"command\": \"\(.*/splitphase_objects.dir/.*\)\"\,$,\1,p" "$work/build/compile_commands.json" \
  >"$work/commands"
sed "s,.* $PWD/,," "$work/commands" | sort >"$work/by_cmake"
bazel query --noshow_progress --ui_event_filters=-info 'kind("source file", deps(//packaging:whole))' |
  sed -n 's,^//\(.*\):\(.*\.cc\)$,\1/\2,p' | sort >"$work/by_bazel"
diff "$work/by_bazel" "$work/by_cmake" || {
  echo "FAILED: Bazel (<) and CMake (>) compile other sources" >&2
  exit 1
}
echo "passed: both compile the same $(wc -l <"$work/by_cmake") sources"

# words COMMAND_FILE: the flags that change what is compiled. Of those that exclude each other the last
# counts; what is named below Bazel's toolchain adds by itself, or CMake's files of a package.
words() {
  tr -s ' ' '\n' <"$1" | sed 's,\\,,g' | grep -E '^-(O|D|U|f|std)' | awk '
    /^-O/ { level = $0; next }
    /^-std=/ { standard = $0; next }
    $0 == "-U_GLIBCXX_ASSERTIONS" { delete set["-D_GLIBCXX_ASSERTIONS"] }
    $0 == "-fomit-frame-pointer" { delete set["-fno-omit-frame-pointer"] }
    { set[$0] }
    END { print level; print standard; for (one in set) print one }' | sed 's/^-fPIC$/-fpic/I' |
    grep -vE '^-(D__(DATE|TIME|TIMESTAMP)__|[DU]_FORTIFY_SOURCE|fno-canonical|fstack-protector|ffunction-sections|fdata-sections|fdiagnostics|frandom-seed|DSPLITPHASE_CHECKED|DFMT_SHARED|D_GLIBCXX_ASSERTIONS)' |
    LC_ALL=C sort -u
}
bazel aquery --config=release --noshow_progress --ui_event_filters=-info \
  'mnemonic("CppCompile", //am/job:job)' | sed -n '/Command Line/,/^ *-c/p' | tr -d "\\\\'" >"$work/bazel"
grep '/am/job/job\.cc' "$work/commands" >"$work/cmake"
diff <(words "$work/bazel") <(words "$work/cmake") || {
  echo "FAILED: Bazel (<) and CMake (>) compile with other flags" >&2
  exit 1
}
echo "passed: both compile with the same flags and definitions"
