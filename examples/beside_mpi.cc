// A few global pointers in a program of MPI: a histogram of which each process has a part, filled
// by all with one-sided atomic additions, which MPI then checks. Built by the program's own MPI
// compiler, beside an installed library (docs/mpi.md):
//
//   SPLITPHASE_CXX=mpicxx splitc++ -O2 beside_mpi.cc -o beside_mpi && mpirun -n 4 ./beside_mpi
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "splitc/splitc.h"
#include "splitc/with_mpi.h"

namespace {

constexpr int kBins = 64;
constexpr int kSamples = 10000;

// This process's samples, as bins: some pseudo-random sequence.
std::vector<int> draw(int rank) {
  std::vector<int> bins(kSamples);
  std::uint64_t state = 88172645463325252ull + static_cast<std::uint64_t>(rank);
  for (int& bin : bins) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    bin = static_cast<int>(state >> 58);
  }
  return bins;
}

// The same on all processes of `comm`, by global pointers.
std::vector<long> count_by_pointers(MPI_Comm comm, const std::vector<int>& samples) {
  std::vector<long> counts(kBins);
  splitc::MpiJob job(comm);
  {
    splitc::spread_array<long> histogram(kBins);  // bin i on process i mod procs()
    for (const std::size_t i : histogram.my_indices()) histogram[i] = 0;
    splitc::barrier();
    for (const int bin : samples) splitc::fetch_and_add(&histogram[bin], 1L);
    splitc::barrier();
    for (int bin = 0; bin < kBins; ++bin) counts[bin] = histogram[bin];
    splitc::barrier();
  }
  job.finish();
  return counts;
}

// And by MPI.
std::vector<long> count_by_mpi(MPI_Comm comm, const std::vector<int>& samples) {
  std::vector<long> mine(kBins);
  for (const int bin : samples) ++mine[bin];
  std::vector<long> counts(kBins);
  MPI_Allreduce(mine.data(), counts.data(), kBins, MPI_LONG, MPI_SUM, comm);
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<int> samples = draw(rank);
  const bool same =
      count_by_pointers(MPI_COMM_WORLD, samples) == count_by_mpi(MPI_COMM_WORLD, samples);
  if (rank == 0 || !same) {
    std::printf("rank %d: MPI and global pointers %s\n", rank, same ? "agree" : "differ");
  }
  MPI_Finalize();
  return same ? 0 : 1;
}
