# The programs of applications_mpi.sh, which sources this: how ours and MPI's are run, and what they
# print. Each ours_NAME, and each mpi_NAME COMMAND..., which starts MPI's, prints lines of
# VERSION,VALUE,ANSWER. All problems are of a process, but those of jacobi3d, gauss and
# conjugate_gradient and of the Parallel Research Kernels, which are of the job.

# Kernels of examples/prk that communicate: their names, titles and units of rates.
kernels=(stencil transpose synch_p2p sparse random dgemm reduce pic)
declare -A kernel_title=([stencil]=Stencil [transpose]=Transpose [synch_p2p]=Synch_p2p
  [sparse]=Sparse [random]=Random [dgemm]=DGEMM [reduce]=Reduce [pic]=PIC)
declare -A kernel_unit=([stencil]=MFlop/s [transpose]=MB/s [synch_p2p]=MFlop/s [sparse]=MFlop/s
  [random]="million updates/s" [dgemm]=MFlop/s [reduce]=MFlop/s [pic]="million moves/s")

bale_kernels=(histogram index_gather transpose topological_sort triangles)
programs=(em3d sample_sort radix_sort jacobi3d gauss gups conjugate_gradient "${bale_kernels[@]}")
declare -A title=([em3d]="EM3D" [sample_sort]="sample sort" [radix_sort]="radix sort"
  [jacobi3d]="Jacobi 3-D" [gauss]="Gauss" [gups]="random updates"
  [conjugate_gradient]="conjugate gradients" [histogram]="Bale: histogram"
  [index_gather]="Bale: index gather" [transpose]="Bale: transpose"
  [topological_sort]="Bale: topological sort" [triangles]="Bale: triangles")
declare -A unit=([em3d]="ns an edge" [sample_sort]="million keys/s" [radix_sort]="million keys/s"
  [jacobi3d]="us an iteration" [gauss]="ms" [gups]="million updates/s" [conjugate_gradient]="ms"
  [histogram]="million updates/s" [index_gather]="million words/s" [transpose]="million entries/s"
  [topological_sort]="million entries/s" [triangles]="million candidates/s")
declare -A better=([em3d]=less [sample_sort]=more [radix_sort]=more [jacobi3d]=less [gauss]=less
  [gups]=more [conjugate_gradient]=less)
declare -A rival=([em3d]=mpi_em3d [sample_sort]=mpi_sort [radix_sort]=mpi_sort
  [jacobi3d]=mpi_jacobi3d [gauss]=mpi_gauss [gups]=mpi_gups
  [conjugate_gradient]=mpi_conjugate_gradient)
exact="-ffp-contract=off -lm"
sort_sources="-I$root $(echo "$root"/examples/keys/*.c)"
declare -A compiled_with=([em3d]=$exact [jacobi3d]=$exact [gauss]=$exact
  [conjugate_gradient]=$exact [sample_sort]=$sort_sources [radix_sort]=$sort_sources)
for program in "${bale_kernels[@]}"; do
  better[$program]=more rival[$program]=mpi_bale \
    compiled_with[$program]="-I$root $root/benchmarks/rivals/mpi_bale_matrices.c"
done

kernel_sources="-fno-exceptions -I$root $(echo "$root"/benchmarks/rivals/mpi_prk_*.c \
  "$root"/examples/prk/*.c) $root/examples/matmul3d/kernel.cc"
for kernel in "${kernels[@]}"; do
  programs+=("prk_$kernel")
  title[prk_$kernel]="PRK ${kernel_title[$kernel]}" unit[prk_$kernel]=${kernel_unit[$kernel]}
  better[prk_$kernel]=more rival[prk_$kernel]=mpi_prk
  compiled_with[prk_$kernel]="$kernel_sources $exact"
  eval "ours_prk_$kernel() { ours_kernel $kernel; }"
  eval "mpi_prk_$kernel() { mpi_kernel $kernel \"\$@\"; }"
done

# For `growth` times the work the kernels and other problems of the job are larger; a process has the
# part 1 / `parts` of problems that are its own.
growth=1 parts=1

# grown SIZE DIMENSIONS: the size along each of DIMENSIONS of a problem with `growth` times as many points.
grown() { awk -v size="$1" -v d="$2" -v growth="$growth" 'BEGIN { printf "%d", size * growth ^ (1 / d) }'; }

# set_sizes QUICK: how large the problems are, and how many seconds one run may take.
set_sizes() {
  if [[ -n $1 ]]; then
    em3d_size=$((40 / parts)) em3d_degree=5 em3d_steps=3 keys=$((2000 / parts)) key_repetitions=1
    cube=$(grown 8 3) cube_iterations=3 repetitions=1 equations=$(grown 12 3)
    updates=$((2000 / parts)) few_updates=20
    points=$(grown 6 3) rows=$((200 / parts)) degree=10 seconds=10 kernel_iterations=2
    declare -gA kernel_sizes=([stencil]="--size $(grown 20 2) --radius 2"
      [transpose]="--order $(grown 20 2)" [synch_p2p]="--width $(grown 20 1) --height 20"
      [sparse]="--bits 4 --radius $(grown 2 1)"
      [random]="--bits 10 --ratio $(grown 4 1) --ahead 16"
      [dgemm]="--order $(grown 20 3) --panel 8" [reduce]="--length $((100 / parts))"
      [pic]="--size 20 --particles $(grown 200 1)")
  else
    em3d_size=$((1000 / parts)) em3d_degree=20 em3d_steps=30 keys=$((250000 / parts)) key_repetitions=10
    cube=$(grown 64 3) cube_iterations=30 repetitions=20 equations=$(grown 300 3)
    updates=$((200000 / parts)) few_updates=500
    points=$(grown 24 3) rows=$((10000 / parts)) degree=10 seconds=30 kernel_iterations=10
    declare -gA kernel_sizes=([stencil]="--size $(grown 512 2) --radius 2"
      [transpose]="--order $(grown 500 2)" [synch_p2p]="--width $(grown 1000 1) --height 1000"
      [sparse]="--bits 8 --radius $(grown 4 1)"
      [random]="--bits 18 --ratio $(grown 1 1) --ahead 1024"
      [dgemm]="--order $(grown 256 3) --panel 64" [reduce]="--length $((100000 / parts))"
      [pic]="--size 500 --particles $(grown 20000 1)")
  fi
}

# What the sizes mean.
describe_sizes() {
  cat <<END
- EM3D: 2 x $em3d_size nodes of degree $em3d_degree on each process, 20 % of the edges remote, $em3d_steps steps.
- Sample sort, radix sort: $keys uniform keys of 32 bits on each process.
- Jacobi 3-D: $cube x $cube x $cube points in all, $cube_iterations iterations.
- Gauss: $equations equations with a search for pivots.
- Random updates: $updates of each process, of 2^18 words of each process.
- Conjugate gradients: Poisson's equation on $points x $points x $points points, to a residual of 1e-8.
- Bale's kernels: $updates updates of each process, of $rows words of each process; matrices with $rows rows of
  each process, for each of which $degree columns are drawn.
$(for kernel in "${kernels[@]}"; do echo "- PRK ${kernel_title[$kernel]}: ${kernel_sizes[$kernel]}, $kernel_iterations iterations."; done)

In a round a program makes that over and over: the sorts $key_repetitions times, the others $repetitions
times.
END
}

# splitphase EXAMPLE [ARGUMENT]...
splitphase() {
  "$bin/tools/splitcrun/splitcrun" -n "$procs" --nodes "$nodes" --bind "$bind" \
    --timeout "$seconds" "$bin/examples/$1" "${@:2}"
}

# --- EM3D: seconds of all steps, of the edges of one process

ns_an_edge() {
  awk -F, -v edges=$((2 * em3d_size * em3d_degree * em3d_steps)) '
    { printf "%s,%.4f,%s\n", $1, 1e9 * $2 / edges, $3 }'
}
ours_em3d() {
  local version
  for version in store bulk channel; do
    splitphase em3d --size "$em3d_size" --degree "$em3d_degree" --remote 20 --steps "$em3d_steps" \
      --repetitions "$repetitions" --version "$version" --csv || return
  done | ns_an_edge
}
mpi_em3d() { "$@" "$em3d_size" "$em3d_degree" 20 "$em3d_steps" "$repetitions" | ns_an_edge; }

# --- Sorts. The answer is a digest of the order.

ours_sort() {
  splitphase key_sort --sort "$1" --size "$keys" --repetitions "$key_repetitions" |
    awk '{ print $2 "," $4 "," $NF }'
}
ours_sample_sort() { ours_sort sample; }
ours_radix_sort() { ours_sort radix; }
mpi_sample_sort() { "$@" uniform "$keys" "$key_repetitions" sample | sed 's/^sample,/alltoallv,/'; }
mpi_radix_sort() { "$@" uniform "$keys" "$key_repetitions" radix | sed 's/^radix,/alltoallv,/'; }

# --- Jacobi 3-D

ours_jacobi3d() {
  local how
  for how in "" --overlap; do
    splitphase jacobi3d --size "$cube" --iterations "$cube_iterations" \
      --repetitions "$repetitions" $how |
      awk -v how="${how:+ $how}" '/^(messages|stores|channels) / { print $1 how "," $2 "," $3 }' || return
  done
}
mpi_jacobi3d() { "$@" "$cube" "$cube_iterations" "$repetitions"; }

# --- Gauss. Reading candidates one by one pays where they are in reach of a load.

ours_gauss() {
  local i search searches=(reduce rows) sizes=()
  for ((i = 0; i < repetitions; ++i)); do sizes+=("$equations"); done
  ((nodes > 1)) || searches+=(each)
  for search in "${searches[@]}"; do
    splitphase gauss --csv --sizes "${sizes[@]}" --search "$search" || return
  done | awk -F, '{ printf "%s,%.3f,%s\n", $2, 1000 * $5, $6 }'
}
mpi_gauss() {
  local search
  for search in reduce rows; do
    "$@" "$equations" "$search" "$repetitions" |
      awk -F, -v search="$search" '{ printf "%s,%.3f,%s\n", search, 1000 * $4, $5 }' || return
  done
}

# --- Random updates. The answer is how many words are wrong.

ours_gups() {
  local style styles=(gather rounds)
  ((nodes > 1)) || styles+=(start_many)
  for style in "${styles[@]}"; do
    splitphase gups --style "$style" --updates "$updates" --repetitions "$repetitions" ||
      return
  done | sed -n 's/^\([a-z_]*\) *\([0-9.]*\) million.*second, \([0-9]*\) words.*/\1,\2,\3 words wrong/p'
}
mpi_gups() { "$@" 18 "$updates" "$few_updates" "$repetitions" | sed 's/$/ words wrong/'; }

# --- Conjugate gradients. Where sums are added in another order the unknowns differ in the last
# bits: "rounded" is an answer that is right to 1e-9.

ours_conjugate_gradient() {
  local version
  for version in bulk channel; do
    splitphase conjugate_gradient --dimensions 3 --size "$points" --version "$version" \
      --repetitions "$repetitions" --csv || return
  done | awk -F, '{ printf "%s,%.3f,%s\n", $1, 1000 * $3, $4 }'
}
mpi_conjugate_gradient() {
  "$@" "$points" 3 "$repetitions" | awk -F, '
    { answer = $4
      if ($5 ~ /^[0-9.]+e[-+][0-9]+$/ && $5 > 0 && $5 <= 1e-9) answer = "rounded"
      printf "%s,%.3f,%s\n", $1, 1000 * $3, answer }'
}

# --- Parallel Research Kernels: of all the answer is known beforehand. MPI's are given the values of
# our options. Atomics pay where they are loads.

ours_kernel() {
  local with=all
  [[ $1 != random || $nodes == 1 ]] || with=parcels
  splitphase prk "$1" --iterations "$kernel_iterations" --repetitions "$repetitions" --with "$with" \
    ${kernel_sizes[$1]} |
    awk '$NF == "validates" { print $1 "," $2 "," $NF }' | rates_of "$1"
}
mpi_kernel() {
  "${@:2}" "$1" "$kernel_iterations" "$repetitions" $(sed 's/--[a-z]* //g' <<<"${kernel_sizes[$1]}") |
    rates_of "$1"
}
# Updates a second are counted in thousand millions.
rates_of() {
  awk -F, -v factor="$([[ $1 == random ]] && echo 1000 || echo 1)" '
    { printf "%s,%.4f,%s\n", $1, factor * $2, $3 }'
}

# --- Bale's kernels. By atomics and gets, too, where they are loads.

ours_bale() {
  local style styles=(aggregator rounds)
  ((nodes > 1)) || styles+=(plain)
  for style in "${styles[@]}"; do
    splitphase bale "$1" --style "$style" --size "$rows" --updates "$updates" --degree "$degree" \
      --repetitions "$repetitions" || return
  done | sed -n 's/^[a-z_]* *\([a-z]*\) .* s *\([0-9.]*\) million.*answer \([0-9a-f]*\),.*/\1,\2,\3/p'
}
mpi_bale() { "${@:2}" "$1" "$rows" "$updates" "$degree" "$repetitions" | sed 's/^[^,]*/alltoallv/'; }
for program in "${bale_kernels[@]}"; do
  eval "ours_$program() { ours_bale $program; }; mpi_$program() { mpi_bale $program \"\$@\"; }"
done
