#!/usr/bin/env bash
# The Debian packages: what is in them works when it lies below another root.
source tests/outside/outside.sh
needs g++ pkg-config dpkg-shlibdeps cpack
lay_clone project
mkdir tools
cat >tools/bazel <<END
#!/bin/sh
case \$1 in info) echo "$PWD/project/bazel-bin" ;; esac
END
chmod +x tools/bazel
PATH=$PWD/tools:$PATH project/packaging/deb --output=. || fail "packaging/deb"
architecture=$(dpkg --print-architecture)
for name in libsplitphase0 libsplitphase-dev splitphase-tools; do
  deb=$(echo "${name}"_*_"$architecture".deb)
  [[ $(dpkg-deb -f "$deb" Package) == "$name" ]] || fail "$deb is no package $name"
  dpkg -x "$deb" root
done
[[ $(dpkg-deb -f libsplitphase0_* Depends) == *libc6*libstdc++6* ]] || fail "what it depends on"
[[ $(dpkg-deb -f libsplitphase-dev_* Depends) == "libsplitphase0 (= "* ]] || fail "of -dev"

# Together they have all that is installed otherwise, but for the compression of manual pages.
mkdir -p "$prefix/share/splitphase"
touch "$prefix/share/splitphase/commit"
for page in "$prefix"/share/man/man1/*.1; do mv "$page" "$page.gz"; done
diff <(cd "$prefix" && find . ! -type d | sort) <(cd root/usr && find . ! -type d | sort) ||
  fail "the packages have other files"
zcat root/usr/share/man/man1/splitcrun.1.gz | grep -q '^\.TH SPLITCRUN 1' || fail "manual page"

prefix=$PWD/root/usr
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046
g++ -std=c++20 examples/hello_splitc.cc -o hello $(pkg-config --cflags --libs splitphase-splitc) \
  -Wl,-rpath,"$prefix/lib"
is_linked_with_shared hello
says_hello ./hello
"$prefix/bin/splitc++" -static-libsplitphase examples/hello_am.cc -o hello_am
asks ./hello_am
