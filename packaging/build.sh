#!/usr/bin/env bash
# Sourced by install and deb: builds what they unpack. They set `root`, the clone's folder, and
# `name`, how they were called.
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

# build_prefix BUILD: release or checked. Sets `tar`, a file with all that is installed but for
# share/splitphase/commit, which says what was built; and `commit`, what that is to say.
build_prefix() {
  local config=()
  [[ $1 != release ]] || config=(--config=release)
  if ! command -v bazel >/dev/null; then
    wrong "there is no bazel, which builds the library; on Debian third_party/install.sh installs it"
  fi
  cd "$root" || exit
  bazel build "${config[@]}" --show_result=0 //packaging:prefix ||
    wrong "the library did not build; the messages above say why (third_party/install.sh installs \
what the build needs)"
  # shellcheck disable=SC2034  # for those who source this
  commit=$(git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null) || commit=unknown
  # shellcheck disable=SC2034
  tar=$(bazel info "${config[@]}" --ui_event_filters=-info bazel-bin)/packaging/prefix.tar
}
