# The programs of applications.sh, which sources this: with which options they run, and what they
# print. Each run_NAME prints lines of WAY,VALUE, in the unit of NAME.

# Those that communicate in three ways. All are measured in microseconds an iteration, and run by
# run_ways.
with_ways=(jacobi3d matmul3d pair_calculator pipeline)

# Those with versions of their own, or with one.
others=(em3d key_sort matmul fft lu gauss conjugate_gradient gups page_rank components
  image_components key_value heat unbalanced_tree sample_sort prk bale)
declare -A unit=([em3d]="ns an edge" [key_sort]="million keys/s" [matmul]=ms [fft]=ms [lu]=ms
  [gauss]=ms [conjugate_gradient]=ms [gups]="million updates/s" [page_rank]="million edges/s"
  [components]=ms [image_components]=ms [key_value]="thousand requests/s" [heat]="us a step"
  [unbalanced_tree]=ms [sample_sort]=ms [prk]="ms an iteration" [bale]="million/s")
# Rates: of these the highest counts, of all others the least.
declare -A rate=([key_sort]=yes [gups]=yes [page_rank]=yes [key_value]=yes [bale]=yes)

# set_sizes QUICK: how large all problems are. Leaves in `ways` what the programs with three ways run,
# from the finest grain to the coarsest: program, options, iterations. In `options` are those of the
# others.
#
# A grid of 1x1x2 cuts a cube where no two points of a face are neighbours in memory, 2x1x1 where all
# are. Matrices on 1x2x1 send columns, on 1x1x2 summands.
set_sizes() {
  if [[ -n $1 ]]; then
    repetitions=1 em3d_edges=$((2 * 40 * 5 * 2)) updates=1000 few_updates=20
    vertices=50 edges=100 side=20 text_lines=500
    ways=("jacobi3d --size 8 --grid 1x1x2:3" "matmul3d --size 8 --grid 1x2x1:3"
      "pair_calculator --states 4 --points 16:3" "pipeline --points 16:10")
    declare -gA options=([em3d]="--size 40 --degree 5 --steps 2" [key_sort]="--size 500"
      [matmul]="--size 24" [fft]="--points 256" [lu]="--sizes 40" [gauss]="--sizes 12"
      [conjugate_gradient]="--dimensions 3 --size 5" [gups]="--bits 10" [page_rank]=""
      [components]="" [image_components]="" [key_value]="--keys 50 --requests 100"
      [heat]="--size 10 --steps 5" [unbalanced_tree]="--root 50" [sample_sort]=""
      [prk]="--iterations 1" [bale]="--size 200 --updates 1000")
    return
  fi
  repetitions=30 em3d_edges=$((2 * 1000 * 20 * 10)) updates=200000 few_updates=2000
  vertices=20000 edges=200000 side=1024 text_lines=500000
  ways=(
    "jacobi3d --size 8 --grid 1x1x2:200"
    "jacobi3d --size 16 --grid 1x1x2:100"
    "jacobi3d --size 32 --grid 1x1x2:50"
    "jacobi3d --size 64 --grid 1x1x2:10"
    "jacobi3d --size 128 --grid 1x1x2:3"
    "jacobi3d --size 8 --grid 2x1x1:200"
    "jacobi3d --size 16 --grid 2x1x1:100"
    "jacobi3d --size 32 --grid 2x1x1:50"
    "jacobi3d --size 64 --grid 2x1x1:10"
    "jacobi3d --size 128 --grid 2x1x1:3"
    "matmul3d --size 8 --grid 1x2x1:200"
    "matmul3d --size 16 --grid 1x2x1:200"
    "matmul3d --size 32 --grid 1x2x1:100"
    "matmul3d --size 64 --grid 1x2x1:30"
    "matmul3d --size 128 --grid 1x2x1:5"
    "matmul3d --size 32 --grid 1x1x2:100"
    "matmul3d --size 128 --grid 1x1x2:5"
    "pair_calculator --states 8 --points 16:100"
    "pair_calculator --states 8 --points 128:30"
    "pair_calculator --states 8 --points 1024:5"
    "pipeline --points 16:500"
    "pipeline --points 128:500"
    "pipeline --points 1024:200"
    "pipeline --points 8192:30"
  )
  declare -gA options=([em3d]="--size 1000 --degree 20 --steps 10" [key_sort]="--size 200000"
    [matmul]="--size 512" [fft]="--points 65536" [lu]="--sizes 500" [gauss]="--sizes 200"
    [conjugate_gradient]="--dimensions 3 --size 24" [gups]="--bits 18" [page_rank]=""
    [components]="" [image_components]="" [key_value]="--keys 10000 --requests 50000"
    [heat]="--size 200 --steps 500" [unbalanced_tree]="--root 2000" [sample_sort]=""
    [prk]="--iterations 10" [bale]="--size 5000 --updates 20000")
}

# make_inputs: the files that some read, in $work, the same wherever this runs.
make_inputs() {
  awk -v vertices="$vertices" -v edges="$edges" -v lines="$text_lines" -v work="$work" '
    function draw(n) { state = (state * 16807) % 2147483647; return state % n }
    BEGIN {
      state = 1
      for (i = 0; i < edges; ++i) print draw(vertices), draw(vertices) >(work "/graph")
      for (i = 0; i < lines; ++i) print draw(1000000000), draw(1000000000) >(work "/text")
    }'
  ! asked_for image_components || "$bin/examples/image_components" --make noise "$side" "$work/image.png"
}
# What the table says of these.
describe_inputs() {
  options[page_rank]="of $vertices vertices and $edges edges"
  options[components]=${options[page_rank]}
  options[image_components]="of $side x $side pixels"
  options[sample_sort]="of $text_lines lines"
}

# splitphase EXAMPLE [ARGUMENT]...
splitphase() {
  "$bin/tools/splitcrun/splitcrun" -n 2 --nodes "$nodes" --bind "$bind" --timeout 300 \
    "$bin/examples/$1" "${@:2}"
}

# run_ways "PROGRAM OPTIONS:ITERATIONS"
run_ways() {
  # The options are words.
  splitphase ${1%:*} --iterations "${1##*:}" --repetitions "$repetitions" |
    awk '/^(messages|stores|channels) / { print $1 "," $2 }'
}

# A program that repeats does so fewer times than those with iterations of microseconds.
few() { echo $(((repetitions + 5) / 6)); }
# thrice OPTIONS: "--sizes N" with the number several times.
thrice() { echo "$1 ${1##* } ${1##* }"; }

run_em3d() {
  splitphase em3d ${options[em3d]} --repetitions "$(few)" --csv |
    awk -F, -v edges="$em3d_edges" '{ printf "%s,%.3f\n", $1, 1e9 * $2 / edges }'
}
run_key_sort() {
  splitphase key_sort ${options[key_sort]} --repetitions "$(few)" |
    awk '/million keys a second/ { print $1 " " $2 "," $4 }'
}
# Lines of VERSION SECONDS ... behind a heading.
versions_in_ms() {
  awk -v names="$1" '$1 ~ "^(" names ")$" && $2 ~ /^[0-9.]+$/ { printf "%s,%.4f\n", $1, 1000 * $2 }'
}
run_matmul() {
  splitphase matmul ${options[matmul]} --repetitions "$(few)" |
    versions_in_ms "read|get|cannon|channel"
}
run_fft() {
  splitphase fft ${options[fft]} --repetitions "$(few)" |
    versions_in_ms "store|all_to_all|bulk_store"
}
run_lu() {
  splitphase lu $(thrice "${options[lu]}") |
    awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9.]+$/ { printf "bulk_store,%.4f\n", 1000 * $2 }'
}
run_gauss() {
  splitphase gauss $(thrice "${options[gauss]}") --csv |
    awk -F, '{ printf "%s,%.4f\n", $2, 1000 * $5 }'
}
run_conjugate_gradient() {
  splitphase conjugate_gradient ${options[conjugate_gradient]} --repetitions "$(few)" --csv |
    awk -F, '{ printf "%s,%.4f\n", $1, 1000 * $3 }'
}
# The first two wait for each update.
run_gups() {
  local style count
  for style in read_and_write wait_for_each start_many call gather rounds; do
    count=$updates
    [[ $style != read_and_write && $style != wait_for_each ]] || count=$few_updates
    splitphase gups ${options[gups]} --style "$style" --updates "$count" --repetitions "$(few)" ||
      return
  done | sed -n 's/^\([a-z_]*\) *\([0-9.]*\) million updates a second.*/\1,\2/p'
}
run_page_rank() {
  splitphase page_rank "$work/graph" | sed -n 's/.* iterations on .*: \([0-9.]*\) M edges.*/bulk_store,\1/p'
}
# seconds_in_ms WAY: of the line "2 processes, 0.123456 seconds".
seconds_in_ms() {
  awk -v way="$1" '/^[0-9]+ processes, [0-9.]+ seconds$/ { printf "%s,%.4f\n", way, 1000 * $3 }'
}
run_components() { splitphase components "$work/graph" | seconds_in_ms cmp_and_swap; }
run_image_components() {
  splitphase image_components "$work/image.png" | seconds_in_ms disjoint_sets
}
run_key_value() {
  splitphase key_value ${options[key_value]} |
    sed -n 's/^[0-9.]* seconds, \([0-9.]*\) thousand requests.*/rpc,\1/p'
}
run_heat() {
  splitphase heat ${options[heat]} | sed -n 's/.*: \([0-9.]*\) us a step.*/grid,\1/p'
}
run_unbalanced_tree() {
  splitphase unbalanced_tree ${options[unbalanced_tree]} |
    sed -n 's/^by .* in \([0-9.]*\) s;.*/\1/p' | awk '{ printf "work_queue,%.4f\n", 1000 * $1 }'
}
run_sample_sort() {
  splitphase sample_sort "$work/text" -o "$work/sorted" |
    sed -n 's/^sorted .* in \([0-9.]*\) s: .*/\1/p' | awk '{ printf "bulk_store,%.4f\n", 1000 * $1 }'
}
# The kernels that communicate, at the sizes that they choose.
run_prk() {
  local kernel
  for kernel in stencil transpose synch_p2p sparse random dgemm reduce pic; do
    splitphase prk "$kernel" ${options[prk]} --repetitions "$(few)" |
      awk -v kernel="$kernel" '$NF == "validates" { print kernel " " $1 "," $3 }' || return
  done
}
run_bale() {
  splitphase bale all ${options[bale]} --repetitions "$(few)" |
    awk '/million [a-z]* a second/ { print $1 " " $2 "," $5 }'
}
