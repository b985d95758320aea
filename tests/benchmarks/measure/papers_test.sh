#!/usr/bin/env bash
# ./measure --only papers and --only scaling run the applications of publications, and kernels with several
# numbers of processes, with little work; how fast they were does not matter. Only a whole run of one of
# these chapters alone writes pages.
#
#   papers_test.sh MEASURE SPLITCRUN CHECK
set -euo pipefail
bin=$(cd "$(dirname "$2")/../.." && pwd)
unset TEST_PREMATURE_EXIT_FILE  # a file that only one process could remove
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

"$1" --trial --rounds 1 --bin "$bin" --out "$out" --only papers --only scaling
python3 -B "$3" "$out/beside-others.html" "$out/figures.csv" papers_jacobi papers_matmul papers_pairs papers_gauss papers_ways \
  conveyors scaling_strong scaling_weak
for row in 'papers_jacobi,"16 x 16 x 8, 8 processes",.*,channels,' 'papers_pairs,.*"channels, marked",' \
  'papers_gauss,.*,block over TCP,' 'papers_ways,matmul,.*,datagram,' \
  'conveyors,"histogram, 2 processes on 2 nodes",.*,aggregator,' 'scaling_weak,"prk stencil .*, 2 nodes",'; do
  grep -q "^$row" "$out/figures.csv" || { echo "FAILED: no $row in $(<"$out/figures.csv")" >&2; exit 1; }
done
