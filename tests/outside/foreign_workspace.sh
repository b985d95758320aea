#!/usr/bin/env bash
# Another Bazel workspace, which names this clone as a repository: builds a program of //am and the
# launcher, and runs the job. A program of //splitc is analysed only: what it needs is there, and is
# built by the same rules. Not a test of Bazel's, as it runs Bazel itself; .ci/run calls it.
set -euo pipefail
clone=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
bazel() { command bazel --output_base="$work/output" "$@"; }
finish() {
  bazel shutdown || true  # the folder goes, whatever has happened
  chmod -R u+w "$work" || true
  rm -rf "$work"
}
mkdir "$work/foreign"
cd "$work/foreign"
trap finish EXIT

cat >WORKSPACE <<END
workspace(name = "foreign")

local_repository(name = "splitphase", path = "$clone")

load("@splitphase//packaging:dependencies.bzl", "splitphase_dependencies")

splitphase_dependencies()
END
cat >BUILD <<'END'
cc_binary(
    name = "hello",
    srcs = ["hello.cc"],
    deps = ["@splitphase//splitc"],
)

cc_binary(
    name = "hello_am",
    srcs = ["hello_am.cc"],
    deps = ["@splitphase//am"],
)

sh_test(
    name = "job",
    srcs = ["job.sh"],
    args = ["$(rootpath @splitphase//tools/splitcrun:splitcrun) $(rootpath :hello_am)"],
    data = [
        ":hello_am",
        "@splitphase//tools/splitcrun:splitcrun",
    ],
)
END
# -O0: to build it is all that matters here. The clone's own settings have where results are kept.
cat >.bazelrc <<END
build --cxxopt=-std=c++20 --copt=-O0 --copt=-g0 --incompatible_strict_action_env --nosandbox_debug
try-import $clone/user.bazelrc
END
cp "$clone/examples/hello_splitc.cc" hello.cc
cp "$clone/examples/hello_am.cc" .
cat >job.sh <<'END'
#!/bin/sh
unset TEST_PREMATURE_EXIT_FILE
exec "$1" -n 2 "$2"
END
chmod +x job.sh

bazel test --test_output=all //:job
bazel build @splitphase//tools/splitcrun:splitcrun
bazel build --nobuild //:hello
got=$(bazel-bin/external/splitphase/tools/splitcrun/splitcrun -n 2 bazel-bin/hello_am | sort)
[[ $got == $'rank 0 says that 11 squared is 121\nrank 1 says that 10 squared is 100' ]] || {
  printf 'FAILED: hello_am prints:\n%s\n' "$got" >&2
  exit 1
}
echo "passed: from another workspace"
