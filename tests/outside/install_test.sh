#!/usr/bin/env bash
# packaging/install: what it puts where, and what it says when it cannot. Bazel is a stand-in that has
# built everything before.
source tests/outside/outside.sh
lay_clone project
mkdir tools
cat >tools/bazel <<END
#!/bin/sh
echo "\$*" >>"$PWD/asked"
[ ! -e "$PWD/broken" ] || exit 1
case \$1 in info) echo "$PWD/project/bazel-bin" ;; esac
END
chmod +x tools/bazel
system=$PATH
export PATH=$PWD/tools:$PATH

# installs ARGUMENTS...
installs() {
  project/packaging/install "$@" || fail "install $*"
  echo "passed: install $*"
}
installs --prefix="$PWD/new/place" --checked
for file in include/splitphase/{am/am,am/c/am2,am/c/spmd,splitc/splitc,splitc/compat,splitc/with_mpi}.h \
  lib/libsplitphase.{a,so} lib/libsplitphase.so.0 lib/pkgconfig/splitphase-{am,am2,splitc}.pc bin/{splitcrun,splitc++,splitcc,splitc2cc,splitc-doctor,splitc-info,splitc-timeline,splitc-traffic} share/splitphase/{commit,gdb.py,splitcc-errors} \
  include/splitphase/split-c/{split-c,control}.h \
  lib/cmake/Splitphase/SplitphaseConfig.cmake share/man/man1/{splitcrun,splitcc,splitc2cc}.1 \
  share/bash-completion/completions/splitcrun \
  share/doc/splitphase/{README.md,docs/{tutorial.md,pictures/timeline.svg,clusters/job.sh},examples/hello_splitc.cc}; do
  [[ -e new/place/$file ]] || fail "$file is missing"
done
new/place/bin/splitcrun --version
new/place/bin/splitc-doctor --version
new/place/bin/splitc-timeline --help | grep -q 'A picture of a trace' || fail "splitc-timeline"
new/place/bin/splitc-traffic --help >/dev/null || fail "splitc-traffic"
new/place/bin/splitc-info | grep -q "^commit     $(<new/place/share/splitphase/commit)$" ||
  fail "splitc-info does not say the commit that was installed"
! grep -rE '#include <(rdma/|spdlog|fmt/|sodium|pmix|CLI)' new/place/include ||
  fail "headers of other packages are needed"
version=$(sed -n 's/^Version: //p' new/place/lib/pkgconfig/splitphase-am.pc)
grep -q "^    version = \"$version\",$" "$clone/MODULE.bazel" || fail "MODULE.bazel's version"
! grep -q config=release asked || fail "--checked builds the release build"

# Into a folder that is there, by a relative path: headers of before go, the rest stays.
touch new/place/include/splitphase/old.h new/place/mine
chmod 700 new/place
installs --prefix=new/place
grep -q config=release asked || fail "the default is not the release build"
[[ ! -e new/place/include/splitphase/old.h && -e new/place/mine ]] || fail "what was there before"
[[ $(stat -c %a new/place) == 700 ]] || fail "the folder's mode has changed"

# refuses SENTENCE ARGUMENTS...: fails and says it, in one line.
refuses() {
  local said
  said=$(project/packaging/install "${@:2}" 2>&1) && fail "install ${*:2} succeeds"
  # shellcheck disable=SC2053
  [[ $said == "packaging/install: "$1 && $said != *$'\n'* ]] || fail "install ${*:2} says:" "$said"
  echo "passed: install ${*:2} is refused"
}
refuses "where to? Name a folder, such as --prefix=*"
refuses "where to? *" --release
refuses "--prefix=: no such option; write * --prefix=FOLDER *" --prefix=
refuses "--debug: no such option; *" --prefix=x --debug
touch file
refuses "cannot write to $PWD/file/x (Not a directory); name another folder, *" --prefix=file/x
if ((EUID != 0)); then  # root may write there
  mkdir -m 555 closed
  refuses "cannot write to $PWD/closed (Permission denied); name another *" --prefix=closed
fi
touch broken
refuses "the library did not build; *" --prefix=x
# Without cmake.
mkdir few
for tool in bash env dirname mkdir mktemp rm; do ln -s "$(PATH=$system command -v $tool)" few/; done
# shellcheck disable=SC2123
PATH=$PWD/few
refuses "there is no cmake, which installs the library; * third_party/install.sh *" --prefix=x
PATH=$system
