// Of mpi_prk.c: the kernels that send a little to anywhere.

#include <math.h>
#include <string.h>

#include "examples/prk/loops.h"
#include "examples/prk/particles.h"
#include "mpi_prk.h"

static double none(double iterations) { return 0 * iterations; }

static int *out, *out_at, *in, *in_at;
static MPI_Request* requests;

static void make_counts(void) {
  out = room_of(4 * (size_t)procs, sizeof(int));
  out_at = out + procs, in = out_at + procs, in_at = in + procs;
  requests = room_of(2 * (size_t)procs, sizeof(MPI_Request));
}
// Who gets how much of whom, from the counts in `out`. Returns what comes to this process.
static int exchange_counts(void) {
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  in_at[0] = 0;
  for (int p = 1; p < procs; ++p) in_at[p] = in_at[p - 1] + in[p - 1];
  return in_at[procs - 1] + in[procs - 1];
}

// --- Random

static uint64_t words, ahead, rounds, first;
static uint64_t *table, *streams, *packed, *arrived;

static uint64_t first_of(uint64_t proc) {
  return (proc * words + (uint64_t)procs - 1) / (uint64_t)procs;
}
static void begin_random(void) {
  first = first_of((uint64_t)rank);
  table = room_of(first_of(1), sizeof(uint64_t)), streams = room_of(ahead, sizeof(uint64_t));
  packed = room_of(ahead * (size_t)procs, sizeof(uint64_t));
  arrived = room_of(ahead * (size_t)procs, sizeof(uint64_t));
  make_counts();
  for (int p = 0; p < procs; ++p) out_at[p] = (int)ahead * p;
  for (uint64_t i = 0; i < first_of((uint64_t)rank + 1) - first; ++i) table[i] = first + i;
}
static void apply(const uint64_t* numbers, int count) {
  for (int i = 0; i < count; ++i) table[(numbers[i] & (words - 1)) - first] ^= numbers[i];
}
static void draw(void) {
  memset(out, 0, sizeof(int) * (size_t)procs);
  for (uint64_t i = 0; i < ahead; ++i) {
    const uint64_t number = streams[i] = prk_next_power(streams[i]);
    const uint64_t to = (number & (words - 1)) * (uint64_t)procs >> sizes[0];
    packed[to * ahead + (uint64_t)out[to]++] = number;
  }
}
static void round_by_alltoallv(void) {
  draw();
  const int all = exchange_counts();
  MPI_Alltoallv(packed, out, out_at, MPI_UINT64_T, arrived, in, in_at, MPI_UINT64_T,
                MPI_COMM_WORLD);
  apply(arrived, all);
}
// The messages say themselves how many they bring.
static void round_by_requests(void) {
  for (int k = 1; k < procs; ++k) {
    const int from = (rank + k) % procs;
    MPI_Irecv(arrived + ahead * (uint64_t)from, (int)ahead, MPI_UINT64_T, from, 0, MPI_COMM_WORLD,
              &requests[k - 1]);
  }
  draw();
  for (int k = 1; k < procs; ++k) {
    const int to = (rank + k) % procs;
    MPI_Isend(packed + out_at[to], out[to], MPI_UINT64_T, to, 0, MPI_COMM_WORLD,
              &requests[procs + k - 1]);
  }
  apply(packed + out_at[rank], out[rank]);
  for (int k = 1; k < procs; ++k) {
    int count;
    MPI_Status status;
    MPI_Wait(&requests[k - 1], &status);
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    apply(arrived + ahead * (uint64_t)((rank + k) % procs), count);
  }
  MPI_Waitall(procs - 1, requests + procs, MPI_STATUSES_IGNORE);
}
static void twice(void (*round)(void)) {
  for (int pass = 0; pass < 2; ++pass) {
    for (uint64_t i = 0; i < ahead; ++i) {
      streams[i] = prk_power(kPrkSeed + 2 * rounds * ((uint64_t)rank * ahead + i));
    }
    for (uint64_t r = 0; r < rounds; ++r) round();
  }
}
static void random_by_alltoallv(void) { twice(round_by_alltoallv); }
static void random_by_requests(void) { twice(round_by_requests); }
static double found_random(double iterations) {
  double wrong = none(iterations);
  for (uint64_t i = 0; i < first_of((uint64_t)rank + 1) - first; ++i) {
    wrong += table[i] != first + i;
  }
  return wrong;
}
void random_access(void) {
  static const struct way ways[] = {
      {"alltoallv", begin_random, random_by_alltoallv, found_random, NULL},
      {"requests", begin_random, random_by_requests, found_random, NULL}};
  words = (uint64_t)1 << sizes[0], ahead = sizes[2];
  rounds = words * sizes[1] / (uint64_t)procs / 2 / ahead;
  measure(ways, 2, 2 * (double)(rounds * ahead * (uint64_t)procs) / 1e9, none);
}

// --- PIC

struct cloud {
  struct prk_particle* particles;
  size_t count, room;
};
static struct tiles tiles;
static struct cloud here, *leaving;  // `leaving` is by process, and then all together
static double all_particles;
static MPI_Datatype particle_type;

static void make_room(struct cloud* cloud, size_t count) {
  if (count <= cloud->room) return;
  cloud->room = 2 * count;
  cloud->particles = realloc(cloud->particles, cloud->room * sizeof *cloud->particles);
  if (cloud->particles == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
}
static void append(struct cloud* to, const struct prk_particle* particles, size_t count) {
  if (count == 0) return;
  make_room(to, to->count + count);
  memcpy(to->particles + to->count, particles, count * sizeof *particles);
  to->count += count;
}
static struct prk_cloud asked_for(void) {
  return (struct prk_cloud){.density = kPrkGeometric,
                            .side = sizes[0],
                            .particles = sizes[1],
                            .k = 1,
                            .m = 1,
                            .rho = 0.99};
}
static size_t place(struct prk_particle* to) {
  const struct prk_cloud cloud = asked_for();
  tiles = make_tiles();
  const struct span x = part_of(sizes[0], tiles.across, tiles.x);
  const struct span y = part_of(sizes[0], tiles.down, tiles.y);
  const struct prk_cells cells = {x.begin, x.end, y.begin, y.end};
  return prk_place(&cloud, &cells, to);
}
static void begin_pic(void) {
  leaving = room_of((size_t)procs + 1, sizeof *leaving);
  make_counts();
  here.count = place(NULL);
  make_room(&here, here.count + 1);
  place(here.particles);
  const double mine = (double)here.count;
  double before = 0;
  MPI_Exscan(&mine, &before, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  prk_finish(here.particles, here.count, 1 + (rank == 0 ? 0 : before));
}
static void end_pic(void) {
  for (int p = 0; p <= procs; ++p) free(leaving[p].particles);
}
static int part_with(double at, int parts) {
  return (int)((((uint64_t)at + 1) * (uint64_t)parts - 1) / sizes[0]);
}
static void move_all(void) {
  size_t stay = 0;
  for (size_t i = 0; i < here.count; ++i) {
    struct prk_particle particle = here.particles[i];
    prk_move(&particle, (double)sizes[0]);
    const int to =
        part_with(particle.y, tiles.down) * tiles.across + part_with(particle.x, tiles.across);
    if (to == rank)
      here.particles[stay++] = particle;
    else
      append(&leaving[to], &particle, 1);
  }
  here.count = stay;
  for (int p = 0; p < procs; ++p) out[p] = (int)leaving[p].count;
}
static void pic_by_alltoallv(void) {
  move_all();
  const int come = exchange_counts();
  struct cloud* const sorted = &leaving[procs];
  for (int p = 0; p < procs; ++p) {
    out_at[p] = (int)sorted->count;
    append(sorted, leaving[p].particles, leaving[p].count);
    leaving[p].count = 0;
  }
  make_room(&here, here.count + (size_t)come);
  MPI_Alltoallv(sorted->particles, out, out_at, particle_type, here.particles + here.count, in,
                in_at, particle_type, MPI_COMM_WORLD);
  here.count += (size_t)come;
  sorted->count = 0;
}
static void pic_by_requests(void) {
  move_all();
  const int come = exchange_counts();
  int many = 0;
  make_room(&here, here.count + (size_t)come);
  for (int p = 0; p < procs; ++p) {
    if (in[p] > 0) {
      MPI_Irecv(here.particles + here.count + in_at[p], in[p], particle_type, p, 0, MPI_COMM_WORLD,
                &requests[many++]);
    }
  }
  for (int p = 0; p < procs; ++p) {
    if (out[p] > 0) {
      MPI_Isend(leaving[p].particles, out[p], particle_type, p, 0, MPI_COMM_WORLD,
                &requests[many++]);
    }
    leaving[p].count = 0;
  }
  MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
  here.count += (size_t)come;
}
static double found_pic(double iterations) {
  double wrong = 0, numbers = 0, all;
  for (size_t i = 0; i < here.count; ++i) {
    wrong += !prk_is_right(&here.particles[i], (double)sizes[0], iterations);
    numbers += here.particles[i].number;
  }
  MPI_Allreduce(&numbers, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return wrong + (rank == 0 ? fabs(all - all_particles * (all_particles + 1) / 2) : 0);
}
void pic(void) {
  static const struct way ways[] = {{"alltoallv", begin_pic, pic_by_alltoallv, found_pic, end_pic},
                                    {"requests", begin_pic, pic_by_requests, found_pic, end_pic}};
  const double mine = (double)place(NULL);
  MPI_Allreduce(&mine, &all_particles, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Type_contiguous(sizeof(struct prk_particle), MPI_BYTE, &particle_type);
  MPI_Type_commit(&particle_type);
  measure(ways, 2, all_particles / 1e6, none);
  MPI_Type_free(&particle_type);
  free(here.particles);
}
