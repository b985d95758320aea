# The table of channel_table.sh, from lines WAY,BYTES,NS: ways down, sizes across, as in the paper;
# below it how the channel compares, and how much the rounds differed. Writes the figures to the
# file `csv` as well, sizes down.

BEGIN {
  row("message", "request messages")
  row("bulk_store", "bulk_store, store_sync")
  row("channel", "channel")
  for (i = split("get put", calls, " "); i > 0; --i) {
    for (j = split("prereg reg unreg", modes, " "); j > 0; --j) {
      row(calls[i] "_" modes[j], "zero-copy " calls[i] ", " toupper(modes[j]))
    }
  }
  row("raw", "raw limit")
  row("raw_one_line", "raw, flags in one line")
  mpi("open_mpi", "Open MPI")
  mpi("mpich", "MPICH")
}

function row(way, title) {
  ways[++rows] = way
  titles[way] = title
}
function mpi(library, name) {
  row(library "_send", name " send/recv")
  row(library "_persistent", name " persistent")
  row(library "_put", name " Put, PSCW")
  row(library "_put_nocheck", name " Put, NOCHECK")
  row(library "_put_apart", name " Put, PSCW, apart")
  row(library "_put_apart_nocheck", name " Put, NOCHECK, apart")
}

!($2 in known) { known[$2]; sizes[++columns] = $2 }
!($1 in titles) { row($1, $1) }
{
  key = $1 "," $2
  seen[$1]
  values[key, ++rounds[key]] = $3
  if (rounds[key] == 1 || $3 < least[key]) least[key] = $3
}

# The median over the rounds.
function median(key,    i, j, value, n, sorted) {
  n = rounds[key]
  for (i = 1; i <= n; ++i) {
    value = values[key, i]
    for (j = i - 1; j > 0 && sorted[j] > value; --j) sorted[j + 1] = sorted[j]
    sorted[j + 1] = value
  }
  return sorted[int((n + 1) / 2)]
}
# The way of MPI that is the fastest for `bytes`, of those without `without` in their name; or
# nothing.
function best_mpi(bytes, without,    i, key, best) {
  best = ""
  for (i = 1; i <= rows; ++i) {
    key = ways[i] "," bytes
    if (ways[i] !~ /^(open_mpi|mpich)_/ || !(key in least)) continue
    if (without != "" && index(ways[i], without)) continue
    if (best == "" || least[key] < least[best "," bytes]) best = ways[i]
  }
  return best
}
# a / b as text, or "-".
function ratio(a, b) {
  return a in least && b in least ? sprintf("%.2f", least[a] / least[b]) : "-"
}
function digits(us) { return sprintf(us < 9.995 ? "%.3f" : us < 99.95 ? "%.2f" : "%.1f", us) }
function cell(key) { return key in least ? digits(least[key] / 1000) : "-" }
function heading(text,    i) {
  printf "\n%-28s", text
  for (i = 1; i <= columns; ++i) printf "%9s", sizes[i] / 1000
  printf "\n"
}

function print_figures(    i, c) {
  heading("thousand bytes")
  for (i = 1; i <= rows; ++i) {
    if (!(ways[i] in seen)) continue
    printf "%-28s", titles[ways[i]]
    for (c = 1; c <= columns; ++c) printf "%9s", cell(ways[i] "," sizes[c])
    printf "\n"
  }
}
function print_ratio(text, above, below,    c) {
  printf "%-28s", text
  for (c = 1; c <= columns; ++c) printf "%9s", ratio(above "," sizes[c], below "," sizes[c])
  printf "\n"
}
function print_mpi_ratio(text, without,    c) {
  printf "%-28s", text
  for (c = 1; c <= columns; ++c) {
    printf "%9s", ratio(best_mpi(sizes[c], without) "," sizes[c], "channel," sizes[c])
  }
  printf "\n"
}
function print_ratios(    c, fastest) {
  printf "\n"
  print_ratio("channel / raw limit", "channel", "raw")
  if ("raw_one_line" in seen) print_ratio("channel / raw, one line", "channel", "raw_one_line")
  print_ratio("message / channel", "message", "channel")
  print_ratio("bulk_store / channel", "bulk_store", "channel")
  print_mpi_ratio("best MPI / channel", "")
  print_mpi_ratio("... without NOCHECK", "nocheck")
  printf "\n"
  for (c = 1; c <= columns; ++c) {
    fastest = best_mpi(sizes[c], "")
    if (fastest != "") printf "%s thousand bytes, best MPI: %s\n", sizes[c] / 1000, titles[fastest]
  }
}
function print_noise(    i, c, key) {
  heading("median round / least")
  for (i = 1; i <= rows; ++i) {
    if (!(ways[i] in seen)) continue
    printf "%-28s", titles[ways[i]]
    for (c = 1; c <= columns; ++c) {
      key = ways[i] "," sizes[c]
      printf "%9s", key in least ? sprintf("%.2f", median(key) / least[key]) : "-"
    }
    printf "\n"
  }
}
# Microseconds; empty where there is no figure.
function write_csv(    i, c, key, line, fastest) {
  line = "bytes"
  for (i = 1; i <= rows; ++i) if (ways[i] in seen) line = line "," ways[i]
  print line ",channel_over_raw,best_mpi_over_channel" >csv
  for (c = 1; c <= columns; ++c) {
    line = sizes[c]
    for (i = 1; i <= rows; ++i) {
      if (!(ways[i] in seen)) continue
      key = ways[i] "," sizes[c]
      line = line "," (key in least ? least[key] / 1000 : "")
    }
    fastest = best_mpi(sizes[c], "")
    line = line "," ratio("channel," sizes[c], "raw," sizes[c])
    print line "," ratio(fastest "," sizes[c], "channel," sizes[c]) >csv
  }
}

END {
  print_figures()
  print_ratios()
  print_noise()
  write_csv()
}
