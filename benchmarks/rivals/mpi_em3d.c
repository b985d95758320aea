// The waves of examples/em3d by MPI: the same graph, the same steps, the same loop over the edges.
// Prints a line for each way, WAY,SECONDS,CHECKSUM, of the fastest repetition.
//
//   persistent   requests made once, the receives started half a step ahead
//   neighbor     MPI_Neighbor_alltoallv
//
//   mpicc -O3 -ffp-contract=off -o mpi_em3d mpi_em3d.c
//   mpirun -n 2 mpi_em3d [SIZE [DEGREE [REMOTE [STEPS [REPETITIONS]]]]]

#include <stdio.h>

#include "mpi_parcels.h"
#include "numbers.h"

static int rank, procs;
static int size = 1000, degree = 20, remote = 20, steps = 100, repetitions = 1;

// The sides of the graph.
enum { kElectric, kMagnetic };

// Half a step: the values of the nodes of one side, from those of the other.
struct sweep {
  double* values;
  const double* other;
  double* weights;        // of the edges
  const double** nearby;  // the value at the other end, or its ghost
  struct parcels parcels;
};

// --- The graph, as examples/em3d/graph.h draws it from the first seed

static uint64_t key(int side, int proc, int index) {
  const uint64_t node = (uint64_t)proc << 32 | (uint64_t)index;
  return mix(mix(1) + (side == kElectric ? 1 : 2)) ^ mix(node);
}
static struct place neighbour(int side, int index, int k, double* weight) {
  const uint64_t random = mix(key(side, rank, index) ^ mix((uint64_t)k + 1));
  struct place end = {rank, (int)(mix(random + 1) % (uint64_t)size)};
  if (procs > 1 && random % 100 < (uint64_t)remote) {
    end.owner =
        (int)(((uint64_t)rank + 1 + mix(random + 2) % (uint64_t)(procs - 1)) % (uint64_t)procs);
  }
  *weight = fraction(random + 3) / degree;
  return end;
}

static void make_sweep(struct sweep* sweep, int side, double* values, const double* other) {
  const int edges = size * degree;
  struct place* const ends = room_for((size_t)edges, sizeof *ends);
  struct place* const needed = room_for((size_t)edges, sizeof *needed);
  sweep->values = values;
  sweep->other = other;
  sweep->weights = room_for((size_t)edges, sizeof(double));
  sweep->nearby = room_for((size_t)edges, sizeof(double*));
  int many = 0;
  for (int i = 0; i < edges; ++i) {
    ends[i] = neighbour(side, i / degree, i % degree, &sweep->weights[i]);
    if (ends[i].owner != rank) needed[many++] = ends[i];
  }
  many = sort_places(needed, many);
  double* const ghosts = room_for((size_t)many, sizeof(double));
  for (int i = 0; i < edges; ++i) {
    sweep->nearby[i] =
        ends[i].owner == rank ? other + ends[i].index : ghosts + find_place(needed, many, ends[i]);
  }
  make_parcels(&sweep->parcels, needed, many, ghosts);
  free(ends), free(needed);
}

// --- The steps

// Four edges a turn: the loads of all can begin before the first is needed.
static void compute(struct sweep* sweep) {
  const double* weight = sweep->weights;
  const double* const* other = sweep->nearby;
  for (int i = 0; i < size; ++i) {
    double value = sweep->values[i];
    int left = degree;
    for (; left >= 4; left -= 4, weight += 4, other += 4) {
      const double a = *other[0], b = *other[1], c = *other[2], d = *other[3];
      value -= weight[0] * a;
      value -= weight[1] * b;
      value -= weight[2] * c;
      value -= weight[3] * d;
    }
    for (; left > 0; --left) value -= *weight++ * **other++;
    sweep->values[i] = value;
  }
}

static void by_requests(struct sweep* sweep) {
  start_sends(&sweep->parcels, sweep->other);
  wait_for_receives(&sweep->parcels);
  compute(sweep);
  start_receives(&sweep->parcels);
  wait_for_sends(&sweep->parcels);
}
static void by_neighbours(struct sweep* sweep) {
  exchange_parcels(&sweep->parcels, sweep->other);
  compute(sweep);
}

// Seconds that all steps take.
static double solve(void (*half_step)(struct sweep*), struct sweep* sweeps) {
  const int requests = half_step == &by_requests;
  for (int i = 0; i < size; ++i) {
    sweeps[kElectric].values[i] = fraction(key(kElectric, rank, i));
    sweeps[kMagnetic].values[i] = fraction(key(kMagnetic, rank, i));
  }
  for (int side = 0; requests && side < 2; ++side) start_receives(&sweeps[side].parcels);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    half_step(&sweeps[kElectric]);
    half_step(&sweeps[kMagnetic]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;
  for (int side = 0; requests && side < 2; ++side) cancel_receives(&sweeps[side].parcels);
  return seconds;
}

static void run(const char* way, void (*half_step)(struct sweep*), struct sweep* sweeps) {
  double least = solve(half_step, sweeps);
  for (int i = 1; i < repetitions; ++i) {
    const double seconds = solve(half_step, sweeps);
    if (seconds < least) least = seconds;
  }
  uint64_t sum = 0, all, place = (uint64_t)rank * 2 * (uint64_t)size;
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < size; ++i) sum += mark(place++, sweeps[side].values[i]);
  }
  MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s,%.9f,%016llx\n", way, least, (unsigned long long)all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (argc > 1) size = atoi(argv[1]);
  if (argc > 2) degree = atoi(argv[2]);
  if (argc > 3) remote = atoi(argv[3]);
  if (argc > 4) steps = atoi(argv[4]);
  if (argc > 5) repetitions = atoi(argv[5]);
  if (size < 1 || degree < 1 || remote < 0 || remote > 100 || steps < 1 || repetitions < 1) {
    if (rank == 0)
      fprintf(stderr, "usage: mpi_em3d [SIZE [DEGREE [REMOTE [STEPS [REPETITIONS]]]]]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double* const electric = room_for((size_t)size, sizeof(double));
  double* const magnetic = room_for((size_t)size, sizeof(double));
  struct sweep sweeps[2];
  make_sweep(&sweeps[kElectric], kElectric, electric, magnetic);
  make_sweep(&sweeps[kMagnetic], kMagnetic, magnetic, electric);
  run("persistent", &by_requests, sweeps);
  run("neighbor", &by_neighbours, sweeps);
  MPI_Finalize();
  return 0;
}
