#!/usr/bin/env bash
# Runs applications_mpi.sh with tiny problems and looks at what it prints, not at how fast it was. MPI
# is in it where it is installed, and must give the same answers; an MPI that is made up here shows
# that a wrong one is refused.
#
#   applications_mpi_test.sh SCRIPT SPLITCRUN
set -euo pipefail
source "$(dirname "$0")/table_test.sh"
programs="em3d sample_sort radix_sort jacobi3d gauss gups conjugate_gradient histogram index_gather \
  transpose topological_sort triangles prk_stencil prk_transpose prk_synch_p2p prk_sparse prk_random \
  prk_dgemm prk_reduce prk_pic"

# Every program is there, with our versions first, positive figures and one answer.
"$script" --bin "$bin" --quick --seconds 100 --nodes "1 same" --csv >"$out/csv" \
  2>"$out/said" || fail "the script: $(<"$out/said")"
cat "$out/said"  # what is left out, and why
awk -F, -v programs="$programs" '
  NR == 1 {
    if ($0 != "procs,nodes,program,who,version,value,unit,better,answer,speed_over_best_mpi") {
      print "header: " $0; bad = 1
    }
    next
  }
  NF != 10 || $6 <= 0 || $10 !~ /^(-|[0-9.]+)$/ { print "fields: " $0; bad = 1; next }
  { key = $2 " nodes, " $3 }
  !(key in answer) { if ($4 != "ours") { print "not ours: " $0; bad = 1 }; answer[key] = $9 }
  $9 != answer[key] && $9 != "rounded" { print "another answer: " $0; bad = 1 }
  END {
    for (i = split(programs, name, " "); i > 0; --i) {
      for (nodes = 1; nodes <= 2; ++nodes) {
        if (!((nodes " nodes, " name[i]) in answer)) { print "no " name[i] " on " nodes; bad = 1 }
      }
    }
    exit bad
  }' "$out/csv" >&2 || fail "the CSV"

# An Open MPI that compiles nothing and answers $ANSWER. `script`'s other MPI stays what it is.
mkdir "$out/fake"
cat >"$out/fake/mpicc.openmpi" <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
touch "$2"
END
cat >"$out/fake/mpirun.openmpi" <<'END'
#!/bin/sh
if [ "$1" = --version ]; then echo "mpirun of open-mpi 0"; else echo "fake,0.001,$ANSWER"; fi
END
chmod +x "$out/fake"/*
right=$(awk -F, '$3 == "em3d" { print $9; exit }' "$out/csv")
with_fake() {
  PATH=$out/fake:$PATH ANSWER=$1 "$script" --bin "$bin" --quick --only em3d
}
with_fake "$right" >"$out/text" || fail "the right answer was refused: $(<"$out/text")"
grep -q "^EM3D.* (fake) " "$out/text" || fail "the fastest version: $(<"$out/text")"
if with_fake 0123456789abcdef >"$out/text" 2>&1; then fail "a wrong answer was accepted"; fi
grep -q "open_mpi (fake) answers 0123456789abcdef, and ours (.*) $right" "$out/text" ||
  fail "what is wrong is not said: $(<"$out/text")"

for wrong in "--nodes 3" "--rounds none" "--procs 0" "--only magic" "--scaling both" "--seconds 0" "--repetitions 0" "--nonsense"; do
  if "$script" $wrong 2>/dev/null >&2; then fail "$wrong was accepted"; fi
done
