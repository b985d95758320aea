#!/usr/bin/env bash
# Jobs beside MPI in one program (splitc/with_mpi.h), with one MPI library: mpi_program.cc, which
# compares every result with what MPI says of the same values.
#
#   mpi_test.sh PREFIX_TAR openmpi|mpich
mpi=$2 program=$PWD/tests/outside/mpi_program.cc
source tests/outside/outside.sh
needs g++ "mpicxx.$mpi" "mpirun.$mpi" timeout
echo '#include <mpi.h>' >probe.cc
if ! "mpicxx.$mpi" -c probe.cc >/dev/null 2>&1; then
  echo "skipped: mpicxx.$mpi finds no mpi.h (Debian: lib$mpi-dev)"
  exit 0
fi
export SPLITPHASE_CXX=mpicxx.$mpi
"$prefix/bin/splitc++" "$program" -o program || fail "compiling with mpicxx.$mpi"
"$prefix/bin/splitc++" examples/beside_mpi.cc -o example || fail "compiling the example"

# Ranks 0 and 1 on one pretended node, 2 and 3 on the next, and so on.
cat >pairs <<'END'
#!/bin/sh
SPLITC_NODE=$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} / 2)) exec "$@"
END
chmod +x pairs

launcher=("mpirun.$mpi")
[[ $mpi != openmpi ]] || launcher+=(--allow-run-as-root --oversubscribe --bind-to none)

# launched PROCESSES COMMAND...: sets `code`, `out` and `err`. A job that hangs fails.
launched() {
  code=0
  timeout 100 "${launcher[@]}" -n "$1" "${@:2}" >out 2>err </dev/null || code=$?
  out=$(LC_ALL=C sort out) err=$(<err)
  ((code != 124)) || fail "${*:2} hangs:" "$out" "$err"
}

# lines PROCS TIMES: what these processes print of so many jobs.
lines() {
  local proc time
  for ((proc = 0; proc < $1; ++proc)); do
    for ((time = 0; time < $2; ++time)); do echo "process $proc of $1 agrees"; done
  done
}

# agrees WHAT EXPECTED [WRAPPER]: five processes succeed and print that, in any order.
agrees() {
  launched 5 "${@:3}" ./program "$1"
  ((code == 0)) || fail "$1 ${*:3} ends with $code:" "$out" "$err"
  [[ $out == "$(LC_ALL=C sort <<<"$2")" ]] || fail "$1 ${*:3} prints:" "$out" "$err"
  echo "passed: $mpi $1 ${*:3}"
}

# refused WHAT SENTENCE [WRAPPER]: three processes fail, and one says so.
refused() {
  launched 3 "${@:3}" ./program "$1"
  ((code != 0)) || fail "$1 ${*:3} succeeds:" "$out" "$err"
  grep -qF -- "$2" <<<"$err" || fail "$1 ${*:3} says:" "$err"
  echo "passed: $mpi $1 ${*:3} is refused"
}

for nodes in "" ./pairs; do
  # shellcheck disable=SC2086  # no word where there is one node
  {
    for case in world reversed multiple library-initializes; do
      agrees $case "$(lines 5 1)" $nodes
    done
    agrees alternate "$(lines 3 1; lines 2 1)" $nodes
    agrees some "$(lines 3 1)" $nodes
    agrees object "$(lines 5 2)" $nodes
    agrees again "$(lines 5 3; lines 3 2; lines 2 2)" $nodes
    refused throws "rank 1: nothing left to do" $nodes
    refused leaves "rank 1: left with exit code 0 before it had finished the job" $nodes
    refused dies-inside "" $nodes
  }
done
agrees alone "$(for i in {1..5}; do lines 1 1; done)"
agrees finalize-inside "$(lines 5 1)"
refused finalize-inside "MPI_Finalize: the Split-C job over MPI is running" ./pairs
refused finalize-then-channel "MPI_Finalize was called during the job, and what processes exchange"
refused no-init "run_with_mpi: MPI is not initialised; call"
refused too-late "run_with_mpi: MPI_Finalize was called already; call"
refused null "of MPI_COMM_WORLD: run_with_mpi: the communicator is MPI_COMM_NULL"
refused other-thread "called by another thread than the one that initialised MPI"
refused nested "run_with_mpi: a program is running already"
refused object-throws "rank 1: MpiJob: an exception has left the job before finish()"
refused dies-before ""
refused cannot-join "give every process the same SPLITC_SEGMENT"
refused bad-setting "SPLITC_SEGMENT=much: not a number of bytes"

# Without the header: MPI and the job talk to the launcher side by side.
for case in plain-without-init plain-init-inside plain-finalize-inside; do
  agrees $case "$(lines 5 1)"
done
agrees plain-then-init "$(lines 5 2; for i in {1..5}; do echo "MPI has 5 processes"; done)"
if [[ $mpi == mpich ]]; then  # on one descriptor
  refused plain-run "begin the job over MPI, by run_with_mpi of splitc/with_mpi.h"
  refused plain-behind-finalize "has closed the descriptor (PMI_FD="
else
  agrees plain-run "$(lines 5 1)"
  agrees plain-behind-finalize "$(lines 5 1)"
fi

# splitcrun's processes are strangers to MPI.
said=$("$prefix/bin/splitcrun" -n 2 --timeout 60 ./program world 2>&1) && fail "under splitcrun"
grep -q "start the program with the launcher of MPI" <<<"$said" || fail "splitcrun says:" "$said"

launched 4 ./example
((code == 0)) || fail "the example ends with $code:" "$out" "$err"
[[ $out == *"MPI and global pointers agree"* ]] || fail "the example prints:" "$out" "$err"
