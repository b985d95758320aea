# The page that applications_mpi.sh, which sources this, writes with --page.

# speeds: lines of PROGRAM,RATIO,MPI,PLACEMENT of all placements.
speeds() {
  local one
  for one in "${placements[@]}"; do
    table speeds "${one%,*}" "${one#*,}" | sed "s/\$/,$(short_placement "${one%,*}" "${one#*,}")/"
  done
}
short_placement() {
  if (($2 == 1)); then echo "$1 processes on one node"; else echo "$1 nodes over TCP"; fi
}

print_where_mpi_is_ahead() {
  local lines
  lines=$(awk -F, '$2 < 1 { print "| " $1 " | " $4 " | " $3 " | " $2 " |" }' "$work/speeds")
  if [[ ! -s $work/speeds ]]; then
    echo "No MPI ran: see below."
  elif [[ -z $lines ]]; then
    echo "Nowhere in this run."
  else
    printf '| | | the faster MPI | ours / best MPI |\n|---|---|---|---|\n%s\n' "$lines"
  fi
}

print_tables() {
  local one procs nodes
  for one in "${placements[@]}"; do
    procs=${one%,*} nodes=${one#*,}
    printf '\n## %s\n\n' "$(placement "$procs" "$nodes")"
    table page "$procs" "$nodes"
    what_is_left_out "$procs" "$nodes" | sed '1s/^/\nCannot run:\n\n/' | sed '/^$\|^Cannot/!s/^/- /'
  done
}

# version_of COMMAND...: the last word of the first line that it prints.
version_of() { "$@" 2>/dev/null | awk 'NR == 1 { print $NF }' || true; }

print_machine() {
  local mpi busy=""
  awk -v load="$load_before" 'BEGIN { exit !(load > 0.5) }' && busy=yes
  echo "- $(nproc) cores of $(sed -n 's/^model name.*: *//p' /proc/cpuinfo | sort -u | head -n 1)," \
    "Linux $(uname -r | cut -d . -f 1,2), $(date +%F)."
  echo "- Splitphase: g++ $(version_of g++ --version), $built."
  for mpi in "${mpis[@]}"; do
    case $mpi in
      open_mpi) echo "- Open MPI $(version_of "$open_mpi_run" --version):" \
        "gcc $(version_of "$open_mpi_compiler" --version), -O3, loops and functions aligned as ours." ;;
      mpich) echo "- MPICH $(mpiexec.hydra --version | sed -n 's/^ *Version: *//p'):" \
        "gcc $(version_of mpicc.mpich --version), -O3, loops and functions aligned as ours." ;;
    esac
  done
  sed 's/^/- /; s/$/./' "$work/missing"
  if [[ -n $busy ]]; then
    echo "- **The machine was busy** (load $load_before before the run): the figures are to be" \
      "measured again on an idle one."
  else
    echo "- The machine was idle before the run (load $load_before)."
  fi
}

# make_plot FILE: as SVG. Says so if it cannot.
make_plot() {
  local one
  for one in "${placements[@]}"; do short_placement "${one%,*}" "${one#*,}"; done >"$work/places"
  cut -d , -f 2 "$work/programs" >"$work/titles"
  gnuplot -e "speeds='$work/speeds'; titles='$work/titles'; places='$work/places'; picture='$1'" \
    "$root/benchmarks/applications_mpi/plot.gnuplot"
}

write_page() {
  local file=$1 picture=${1%.md}.svg
  speeds >"$work/speeds"
  rm -f "$picture"
  if ! command -v gnuplot >/dev/null; then
    echo "no plot, for gnuplot is not installed (gnuplot-nox)" >&2
  elif [[ -s $work/speeds ]]; then
    make_plot "$picture"
  fi
  {
    cat <<END
# Applications beside MPI

Seven of our [examples](../examples), each in its fastest version, beside the same algorithm by MPI
([benchmarks/rivals](../benchmarks/rivals)) in its fastest way, on the same input and with the same
answer. This page is written by

    benchmarks/applications_mpi.sh --procs "$all_procs" --nodes "$places" --rounds $rounds --seconds $seconds --page FILE

## Where MPI is ahead

END
    print_where_mpi_is_ahead
    [[ ! -e $picture ]] || printf '\n![Ours against the faster MPI](%s)\n' "${picture##*/}"
    print_tables
    printf '\n## The machine\n\n'
    print_machine
    printf '\n## How it is measured\n\n'
    describe_sizes
    cat <<END

Everybody runs in turn, round by round ($rounds); of each version the least time, or the highest rate,
counts. The version that it is of stands behind the figure. "ours / best MPI" is by how much ours is faster than
the faster MPI, for times and for rates alike: 2.00 is twice as fast, below 1.00 MPI is ahead.

All answers are compared: checksums of all values bit by bit, the order of all keys, the words of the
table. One exception: MPI_Allreduce adds in an order of its own, so that unknowns of conjugate gradients
differ in the last bits; they have to be right to 1e-9, and the way called \`ordered\` has every bit.
Loops over points, edges, rows and keys are the same in both, and not tuned for a processor. A node of its
own for each process is simulated on this machine: Open MPI by \`pml ob1\`, \`btl tcp,self\`; MPICH by
\`MPIR_CVAR_NOLOCAL=1\`, \`UCX_TLS=self,tcp\`; ours by \`splitcrun --nodes\`.
END
  } >"$file"
  echo "written: $file$([[ ! -e $picture ]] || echo " and $picture")" >&2
}
