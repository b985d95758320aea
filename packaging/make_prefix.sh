#!/usr/bin/env bash
# Lays out what is installed and packs it: nothing in it says where it will be unpacked.
#
#   make_prefix.sh TAR ARCHIVE SHARED_LIBRARY SPLITCRUN SPLITC2CC LINK_FLAGS TEMPLATES PROGRAM...
#
# Runs in the root of the sources.
set -euo pipefail
tar=$1 archive=$2 shared=$3 splitcrun=$4 splitc2cc=$5 link_flags=$(<"$6") templates=$7
programs=("${@:8}")  # others, that are installed as they are
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

version=$(sed -n 's/.*kVersion = "\(.*\)";/\1/p' am/job/config/version.h)
# The library has one of the two symbols of am/types/abi.h.
checked=0
if grep -q splitphase_a_checked_program "$archive"; then checked=1; fi

# with_includes HEADER...: these and what they include of the library, each once, one a line.
with_includes() {
  local -A seen
  local queue=("$@") header
  while ((${#queue[@]})); do
    header=${queue[0]}
    queue=("${queue[@]:1}")
    [[ -z ${seen[$header]:-} ]] || continue
    seen[$header]=yes
    echo "$header"
    mapfile -t -O "${#queue[@]}" queue < <(sed -n 's/^ *# *include "\(.*\)".*/\1/p' "$header")
  done
}

# fill TEMPLATE MODE FILE: the template with its @WORDS@ filled in, as a file below the prefix.
fill() {
  local text
  text=$(<"$templates/$1")
  text=${text//@VERSION@/$version}
  text=${text//@CHECKED@/$checked}
  text=${text//@BUILD@/$( ((checked)) && echo checked || echo release)}
  text=${text//@LINK_FLAGS@/$link_flags}
  text=${text//@LINK_FLAGS_LIST@/${link_flags// /;}}
  install -D -m "$2" <(printf '%s\n' "$text") "$prefix/$3"
}

# What programs include: the headers at the top of am, am/c and splitc, and those of the original
# Split-C.
original=splitc/compat/split-c
with_includes am/*.h am/c/*.h splitc/*.h $original/*.h | while read -r header; do
  [[ $header == $original/* ]] || install -D -m 644 "$header" "$prefix/include/splitphase/$header"
done
install -D -m 644 -t "$prefix/include/splitphase/split-c" $original/*.h

install -D -m 644 "$archive" "$prefix/lib/libsplitphase.a"
install -m 644 "$shared" "$prefix/lib/libsplitphase.so.$version"
ln -s "libsplitphase.so.$version" "$prefix/lib/libsplitphase.so.0"
ln -s libsplitphase.so.0 "$prefix/lib/libsplitphase.so"
for room in am am2 splitc; do
  fill "splitphase-$room.pc" 644 "lib/pkgconfig/splitphase-$room.pc"
done
for file in Config ConfigVersion; do
  fill "Splitphase$file.cmake" 644 "lib/cmake/Splitphase/Splitphase$file.cmake"
done

install -D -m 755 "$splitcrun" "$prefix/bin/splitcrun"
install -m 755 "$splitc2cc" "$prefix/bin/splitc2cc"
install -m 755 -t "$prefix/bin" "${programs[@]}"
# What draws traces and traffic; python3 runs it.
for drawing in timeline traffic; do
  install -m 755 "benchmarks/$drawing.py" "$prefix/bin/splitc-$drawing"
done
fill splitc++ 755 bin/splitc++
fill splitcc 755 bin/splitcc
for page in splitc2cc.1 splitcc.1 splitcrun.1; do
  fill "$page" 644 "share/man/man1/$page"
done
fill splitcrun.bash 644 share/bash-completion/completions/splitcrun

# The pages and examples, which refer to each other as in the sources.
documentation=$prefix/share/doc/splitphase
install -D -m 644 README.md "$documentation/README.md"
find docs examples -type f -o -type l | while read -r file; do
  case $file in
    docs/site/* | docs/*.html) ;;
    docs/*.md | docs/*.svg | docs/*.png | docs/clusters/* | examples/*.cc | examples/*.c | examples/*.h)
      install -D -m 644 "$file" "$documentation/$file" ;;
  esac
done

# No folder of its own: what is unpacked takes those that are there as they are.
(cd "$prefix" && find . ! -type d -printf '%P\n' | LC_ALL=C sort) |
  tar -C "$prefix" --mtime=@0 --owner=0 --group=0 --numeric-owner -T - -cf "$tar"
