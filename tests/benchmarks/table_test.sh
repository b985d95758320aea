# What tests of tables have in common: sourced by them.
script=$1
bin=$(cd "$(dirname "$2")/../../.." && pwd)
# A file that only one process could remove.
unset TEST_PREMATURE_EXIT_FILE
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
