# Makes includes.mtx, a matrix as irregular as real graphs are:
#
#   git ls-files '*.h' '*.cc' | xargs awk -f examples/data/includes.awk
#
# The graph: its vertices are the files, in the order given, and an edge joins a file with one that
# it includes. The matrix: the Laplacian of the graph, with the number of edges of each vertex on the
# diagonal and -1 for each edge, plus the identity, which makes it positive definite.

FNR == 1 { number[FILENAME] = ++files }

/^#include "/ {
  split($0, part, "\"")
  from[++includes] = FILENAME
  to[includes] = part[2]
}

END {
  for (i = 1; i <= includes; ++i) {
    a = number[from[i]]
    b = number[to[i]]
    if (a == b || b == "") continue
    edge = a > b ? a " " b : b " " a
    if (edge in seen) continue
    seen[edge] = 1
    edges[++count] = edge
    ++degree[a]
    ++degree[b]
  }
  print "%%MatrixMarket matrix coordinate real symmetric"
  print "% The Laplacian, plus the identity, of the graph of files of this repository of which one"
  print "% includes the other. Made by includes.awk."
  print files, files, files + count
  for (i = 1; i <= files; ++i) print i, i, degree[i] + 1
  for (i = 1; i <= count; ++i) print edges[i], -1
}
