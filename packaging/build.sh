#!/usr/bin/env bash
# Sourced by install and deb: builds what they take. They set `root`, the clone's folder, and `name`, how
# they were called.
: "${root:?}" "${name:?}"

# wrong SENTENCE: what is wrong, and the remedy.
wrong() {
  printf '%s: %s\n' "$name" "$1" >&2
  exit 1
}

# check_writable FOLDER: makes it, and tries whether files can be put there. Before building, which
# takes minutes.
check_writable() {
  local trial
  if ! trial=$(mkdir -p "$1" 2>&1 && mktemp "$1/.splitphase.XXXXXX" 2>&1); then
    wrong "cannot write to $1 (${trial##*: }); name another folder, or do this as its owner"
  fi
  rm "$trial"
}

# build_library BUILD: release or checked. Sets `folder`, from which CMake installs. What Bazel has
# compiled, such as for ./run, is taken as it is; where there is no Bazel, CMake compiles.
build_library() {
  local config=() options=()
  command -v cmake >/dev/null ||
    wrong "there is no cmake, which installs the library; on Debian third_party/install.sh installs it"
  if command -v bazel >/dev/null && command -v apt-get >/dev/null; then
    [[ $1 != release ]] || config=(--config=release)
    cd "$root" || exit
    bazel build "${config[@]}" --show_result=0 //packaging:prebuilt ||
      wrong "the library did not build; the messages above say why (third_party/install.sh installs \
what the build needs)"
    options=("-DSPLITPHASE_PREBUILT=$(bazel info "${config[@]}" \
      --ui_event_filters=-info bazel-bin)/packaging/prebuilt")
    folder=$(mktemp -d)
    # shellcheck disable=SC2064  # the folder of now
    trap "rm -rf '$folder'" EXIT
  else
    folder=$root/build-cmake/$1
    echo "$name: there is no Bazel or no apt, so CMake builds the library, in $folder" >&2
    [[ $1 != checked ]] || options=(-DSPLITPHASE_CHECKED=ON)
  fi
  cmake -S "$root" -B "$folder" "${options[@]}" >&2 &&
    cmake --build "$folder" -j "$(nproc)" --target splitphase >&2 ||
    wrong "the library did not build; the messages above say why"
}
