#!/usr/bin/env bash
# Programs built by g++ with what pkg-config says, with the shared library and with the static one.
source tests/outside/outside.sh
needs g++ pkg-config
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
splitc() { pkg-config "$@" splitphase-splitc; }
am() { pkg-config "$@" splitphase-am; }

# As words: what pkg-config prints are arguments.
# shellcheck disable=SC2046
{
  g++ -std=c++20 examples/hello_splitc.cc -o hello $(splitc --cflags --libs) \
    -Wl,-rpath,"$(splitc --variable=libdir)"
  g++ -std=c++20 -O2 examples/zero_copy_exchange.cc -o exchange $(am --cflags --libs)
  g++ -std=c++20 examples/hello_splitc.cc -o hello_static $(splitc --cflags) \
    $(splitc --variable=static_libs)
}
is_linked_with_shared hello
says_hello ./hello
is_linked_with_shared exchange
LD_LIBRARY_PATH=$(am --variable=libdir) exchanges ./exchange
is_linked_with_static hello_static
says_hello ./hello_static

# The shared library gives away its own namespaces, under its version, and no others.
given=$(nm -D --defined-only "$prefix/lib/libsplitphase.so" | grep ' [TDBR] ')
grep -q '_ZN6splitc7barrierE.*@@SPLITPHASE_0$' <<<"$given" || fail "no splitc::barrier"
! grep -v '@@SPLITPHASE_0$' <<<"$given" || fail "these have no version"
! grep -E '_Z[A-Z]*(4rdma|6spdlog|3fmt)' <<<"$given" || fail "these are not for programs"

# Where there is no shared library, --static says all that is needed.
rm "$prefix"/lib/libsplitphase.so*
# shellcheck disable=SC2046
g++ -std=c++20 examples/hello_am.cc -o hello_am $(am --static --cflags --libs)
is_linked_with_static hello_am
asks ./hello_am
