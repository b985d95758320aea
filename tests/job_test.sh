#!/usr/bin/env bash
# Runs a program as a job of N processes; see job_test.bzl.
#
#   job_test.sh SPLITCRUN N[:NODES] [NAME=VALUE...] -- PROGRAM [ARGUMENTS]
set -euo pipefail

splitcrun=$1
shape=(-n "${2%:*}")
[[ $2 != *:* ]] || shape+=(--nodes "${2#*:}")
shift 2
while [[ $1 != -- ]]; do
  export "${1?}"
  shift
done
shift

# A file that only one process could remove; splitcrun itself notices who leaves early.
unset TEST_PREMATURE_EXIT_FILE

exec "$splitcrun" "${shape[@]}" --label "$@"
