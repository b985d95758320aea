# The figures of one placement, `procs` processes on `nodes` nodes, of $work/programs (lines of
# PROGRAM,TITLE,UNIT,BETTER) and then $work/figures (see turn() in applications_mpi.sh). `who` names
# the contenders. `mode` is what is made of them:
#
#   text  a table with a line for each program
#   csv   a line for each version

FNR == NR {
  order[++programs] = $1
  title[$1] = $2
  unit[$1] = $3
  better[$1] = $4
  next
}
$1 != procs || $2 != nodes { next }
{
  version = $3 SUBSEP $4 SUBSEP $5
  if (!(version in value)) {
    version_at[++versions] = version
    value[version] = $6
    answer[version] = $7
  }
  if (is_better($3, $6, value[version])) value[version] = $6
  if (!(($3, $4) in best) || is_better($3, value[version], value[best[$3, $4]])) {
    best[$3, $4] = version
  }
}

function is_better(program, a, b) { return better[program] == "less" ? a + 0 < b + 0 : a + 0 > b + 0 }
function name(one) { return one == "ours" ? "Splitphase" : one == "mpich" ? "MPICH" : "Open MPI" }
# The fastest version of MPI, or "".
function best_mpi(program,    i, found, one) {
  found = ""
  for (i = 2; i <= contenders; ++i) {
    if (!((program, names[i]) in best)) continue
    one = best[program, names[i]]
    if (found == "" || is_better(program, value[one], value[found])) found = one
  }
  return found
}
# By how much `version` is faster than the fastest of MPI.
function speed(program, version,    mpi) {
  mpi = best_mpi(program)
  if (version == "" || mpi == "" || value[mpi] <= 0 || value[version] <= 0) return "-"
  return sprintf("%.2f", better[program] == "less" ? value[mpi] / value[version] \
                                                    : value[version] / value[mpi])
}
function figure(program, one,    part) {
  if (!((program, one) in best)) return "-"
  split(best[program, one], part, SUBSEP)
  return shown(value[best[program, one]]) " (" part[3] ")"
}
function shown(x) { return sprintf(x >= 1000 ? "%.0f" : x >= 100 ? "%.1f" : x >= 10 ? "%.2f" : "%.3f", x) }
function ours(program) { return (program, "ours") in best ? best[program, "ours"] : "" }

function print_text(    i, j) {
  printf "%-50s", "the fastest version of each"
  for (j = 1; j <= contenders; ++j) printf " %24s", name(names[j])
  printf " %16s\n", "ours / best MPI"
  for (i = 1; i <= programs; ++i) {
    printf "%-50s", title[order[i]] ", " unit[order[i]] ", " better[order[i]] " is better"
    for (j = 1; j <= contenders; ++j) printf " %24s", figure(order[i], names[j])
    printf " %16s\n", speed(order[i], ours(order[i]))
  }
}
function print_csv(    i, part) {
  for (i = 1; i <= versions; ++i) {
    split(version_at[i], part, SUBSEP)
    print procs "," nodes "," part[1] "," part[2] "," part[3] "," value[version_at[i]] "," \
          unit[part[1]] "," better[part[1]] "," answer[version_at[i]] "," \
          speed(part[1], version_at[i])
  }
}
END {
  contenders = split(who, names, " ")
  if (mode == "text") print_text()
  if (mode == "csv") print_csv()
}
