#!/usr/bin/env bash
# C programs built by gcc alone, with what pkg-config says: with the shared library, with the static
# one, and the program of the manual.
source tests/outside/outside.sh
needs gcc pkg-config
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
am2() { pkg-config "$@" splitphase-am2; }
strict=(-std=c11 -Wall -Wextra -pedantic -Werror)

# As words: what pkg-config prints are arguments.
# shellcheck disable=SC2046
{
  gcc "${strict[@]}" examples/word_count.c -o words_shared $(am2 --cflags --libs) \
    -Wl,-rpath,"$(am2 --variable=libdir)"
  gcc "${strict[@]}" examples/word_count.c -o words_static $(am2 --cflags) \
    $(am2 --variable=static_libs)
}
is_linked_with_shared words_shared
counts ./words_shared
is_linked_with_static words_static
counts ./words_static

# Those with channels and with zero-copy buffers.
for example in heat_rod pass_blocks; do
  # shellcheck disable=SC2046
  gcc "${strict[@]}" examples/$example.c -o $example $(am2 --cflags --libs) \
    -Wl,-rpath,"$(am2 --variable=libdir)"
done
prints "20 cells, 200 steps: as one process computes them" ./heat_rod
prints "\
process 0 has seen all blocks: 10000000000
process 1 has seen all blocks: 10000000000" ./pass_blocks

# The program in the first comment of am2.h, as printed.
sed -n 's,^//   ,,p' "$prefix/include/splitphase/am/c/am2.h" | sed -n '/^#include/,/^}/p' >manual.c
# shellcheck disable=SC2046
gcc "${strict[@]}" manual.c -o manual $(am2 --cflags --libs) -Wl,-rpath,"$(am2 --variable=libdir)"
prints "\
process 0 was answered 42
process 1 was answered 42" ./manual

# What the headers declare is in the library, under its version, and nothing else of such a name.
(cd "$prefix/include/splitphase" && printf '#include "%s"\n' am/c/*.h) >all.c
# shellcheck disable=SC2046
gcc -std=c11 -fsyntax-only -aux-info prototypes all.c $(am2 --cflags)
{
  printf '%s\n' AM_initial_stats AMX_SPMDkillmyprocess
  sed -n 's/.* extern .*\b\(AMX\?_[A-Za-z]*\) (.*/\1/p' prototypes
} | LC_ALL=C sort -u >declared
nm -D --defined-only "$prefix/lib/libsplitphase.so" |
  sed -n 's/.* \(AMX\?_[A-Za-z_]*\)@@SPLITPHASE_0$/\1/p' | LC_ALL=C sort -u >given
diff declared given || fail "headers and library do not declare and give the same"

# Where there is no shared library, --static says all that is needed.
rm "$prefix"/lib/libsplitphase.so*
# shellcheck disable=SC2046
gcc "${strict[@]}" examples/word_count.c -o words_static $(am2 --static --cflags --libs)
is_linked_with_static words_static
counts ./words_static
