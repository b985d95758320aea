# What tests of tables have in common: sourced by them.
script=$1
bin=$(cd "$(dirname "$2")/../.." && pwd)
# A file that only one process could remove.
unset TEST_PREMATURE_EXIT_FILE
# Of one run of MPI: MPICH 4.0 does not always come out of MPI_Finalize() over TCP.
export seconds=60
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
